"""Waveforms to pictures."""

import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import base  # noqa: E402
import waveform  # noqa: E402

HEAD = """$scope module TOP $end
 $scope module core $end
  $var wire 1 ! clock $end
  $var wire 1 " valid $end
  $var wire 4 # count [3:0] $end
 $upscope $end
$upscope $end
$enddefinitions $end
"""


class Waveform(unittest.TestCase):
    def vcd(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "wave.vcd"
        file.write_text(HEAD + text, encoding="ascii")
        return file

    def test_a_clock_has_the_value_from_before_it_rises(self):
        file = self.vcd('#0\n0!\n0"\nb1010 #\n#1\n1!\n1"\n#2\n0!\nb11 #\n#3\n1!\n0"\n#4\n0!\n#5\n1!\n')
        signals = waveform.sample(file, ["core.valid", "core.count"], "core.clock")
        self.assertEqual(signals["core.valid"].values, [0, 1, 0])
        self.assertEqual(signals["core.count"].values, [10, 3, 3])
        self.assertEqual((signals["core.valid"].width, signals["core.count"].width), (1, 4))

    def test_a_signal_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(base.Failure, "has no signal core.nothing"):
            waveform.sample(self.vcd("#0\n0!\n"), ["core.nothing"], "core.clock")

    def test_a_picture_is_sound_and_has_a_box_for_each_value(self):
        signals = {"a<b": waveform.Signal(1, [0, 1, 1, 0]), "count": waveform.Signal(8, [3, 3, 255, 255])}
        root = xml.etree.ElementTree.fromstring(waveform.draw(signals, 0, 4))
        boxes = [e for e in root.iter() if e.get("class") == "box"]
        texts = [e.text for e in root.iter() if e.tag.endswith("text")]
        self.assertEqual(len(boxes), 2)
        self.assertTrue({"a<b", "count", "3", "ff"} <= set(texts), texts)


if __name__ == "__main__":
    unittest.main()
