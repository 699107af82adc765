//! The plots, as SVG text. Colours are names of classes in all but form: the page's style gives them their tone.
use super::numbers::LatencyPoint;
use crate::replay::Totals;
use plotters::coord::types::RangedCoordf64;
use plotters::coord::Shift;
use plotters::prelude::*;

/// What fills the marks; the page restyles exactly these values for light and dark.
pub(super) const FIRST: RGBColor = RGBColor(1, 2, 3);
pub(super) const SECOND: RGBColor = RGBColor(4, 5, 6);
pub(super) const THIRD: RGBColor = RGBColor(7, 8, 9);

const SIZE: (u32, u32) = (760, 300);
const FONT: (&str, u32) = ("sans-serif", 14);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// SVG text of what `draw` draws.
fn svg(draw: impl FnOnce(&Area<'_>) -> Result<(), String>) -> Result<String, String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&area)?;
        area.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

fn chart<'a, 'b>(area: &'a Area<'b>, x: f64, y: f64) -> Result<Chart<'a, 'b>, String> {
    ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..x, 0.0..y)
        .map_err(|e| e.to_string())
}

fn bar(chart: &mut Chart<'_, '_>, at: usize, from: u64, to: u64, colour: RGBColor) -> Result<(), String> {
    if from == to {
        return Ok(());
    }
    let corners = [(at as f64 + 0.15, from as f64), (at as f64 + 0.85, to as f64)];
    chart.draw_series([Rectangle::new(corners, colour.filled())]).map_err(|e| e.to_string()).map(|_| ())
}

/// Admitted and refused requests by level, then those that have no level.
pub(super) fn verdicts(totals: &Totals) -> Result<String, String> {
    let levels = totals.admit_by_level.len();
    let by_level = totals.admit_by_level.iter().zip(&totals.refuse_by_level);
    let tallest = by_level.clone().map(|(a, r)| a + r).chain([totals.reject, totals.pass]).max().unwrap_or(0).max(1);
    svg(|area| {
        let mut chart = chart(area, (levels + 2) as f64, tallest as f64 * 1.08)?;
        let name = |x: &f64| match *x as usize {
            _ if x.fract() < 0.4 || x.fract() > 0.6 => String::new(),
            l if l < levels => format!("level {l}"),
            l if l == levels => "reject".to_owned(),
            _ => "pass".to_owned(),
        };
        // labels stand at the middle of each bar: twice as many ticks as bars
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(2 * (levels + 2) + 1)
            .x_label_formatter(&name)
            .y_label_formatter(&|y| if y.fract() == 0.0 { format!("{y:.0}") } else { String::new() })
            .label_style(FONT)
            .y_desc("requests")
            .draw()
            .map_err(|e| e.to_string())?;
        for (level, (&admit, &refuse)) in by_level.enumerate() {
            bar(&mut chart, level, 0, admit, FIRST)?;
            bar(&mut chart, level, admit, admit + refuse, SECOND)?;
        }
        bar(&mut chart, levels, 0, totals.reject, THIRD)?;
        bar(&mut chart, levels + 1, 0, totals.pass, THIRD)
    })
}

/// Clocks by body size, the latter on a logarithmic axis.
pub(super) fn latency(points: &[LatencyPoint]) -> Result<String, String> {
    let place = |p: &LatencyPoint| (p.body_bytes.max(1) as f64).log2();
    let widest = points.iter().map(place).fold(4.0, f64::max).ceil();
    let clocks = points.iter().map(|p| p.record_clocks.max(p.verdict_clocks)).max().unwrap_or(1).max(1);
    svg(|area| {
        let mut chart = chart(area, widest, f64::from(clocks) * 1.25)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(widest as usize + 1)
            .x_label_formatter(&|x| if x.fract() == 0.0 { size(*x as u32) } else { String::new() })
            .y_label_formatter(&|y| if y.fract() == 0.0 { format!("{y:.0}") } else { String::new() })
            .label_style(FONT)
            .x_desc("body, bytes")
            .y_desc("clocks")
            .draw()
            .map_err(|e| e.to_string())?;
        let record = points.iter().map(|p| Circle::new((place(p), f64::from(p.record_clocks)), 4, FIRST.filled()));
        let verdict = points.iter().map(|p| Circle::new((place(p), f64::from(p.verdict_clocks)), 4, SECOND.filled()));
        chart.draw_series(record).map_err(|e| e.to_string())?;
        chart.draw_series(verdict).map_err(|e| e.to_string())?;
        Ok(())
    })
}

/// 2 to the power of `exponent`, in bytes.
fn size(exponent: u32) -> String {
    match exponent {
        0..=9 => (1_u32 << exponent).to_string(),
        10..=19 => format!("{}Ki", 1_u32 << (exponent - 10)),
        _ => format!("{}Mi", 1_u64 << (exponent - 20).min(40)),
    }
}
