//! Lines by load, as SVG text. The page's style gives each line its tone.
use plotters::prelude::*;

const SIZE: (u32, u32) = (760, 320);
const FONT: (&str, u32) = ("sans-serif", 14);

/// Colour of line `i`; the page restyles exactly these values.
pub(super) fn colour(i: usize) -> RGBColor {
    RGBColor(1, 1, i as u8 + 1)
}

/// One line: a value for each load.
pub(super) struct Line<'a> {
    pub(super) values: &'a [f64],
    pub(super) colour: RGBColor,
    pub(super) strong: bool,
}

/// Lines over loads, from 0 up to `top`; what is above is cut off.
pub(super) fn lines(loads: &[f64], lines: &[Line<'_>], top: f64, what: &str) -> Result<String, String> {
    let (first, last) = (loads.first().copied().unwrap_or(0.0), loads.last().copied().unwrap_or(1.0));
    let pad = ((last - first) * 0.04).max(0.02);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(56)
            .build_cartesian_2d(first - pad..last + pad, 0.0..top * 1.05)
            .map_err(|e| e.to_string())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(FONT)
            .x_label_formatter(&|x| format!("{x:.1}"))
            .x_desc("load")
            .y_desc(what)
            .draw()
            .map_err(|e| e.to_string())?;
        for line in lines {
            let points: Vec<_> = loads.iter().zip(line.values).map(|(&x, &y)| (x, y.min(top))).collect();
            let style = line.colour.stroke_width(if line.strong { 3 } else { 1 });
            chart.draw_series(LineSeries::new(points.clone(), style)).map_err(|e| e.to_string())?;
            let dots =
                points.into_iter().map(|at| Circle::new(at, if line.strong { 4 } else { 2 }, line.colour.filled()));
            chart.draw_series(dots).map_err(|e| e.to_string())?;
        }
        area.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}
