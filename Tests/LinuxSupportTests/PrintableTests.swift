import LinuxSupport
import Testing

/// Text of strangers, made safe to show.
@Suite struct PrintableTests {
    @Test(arguments: [
        ("", ""), ("example.org", "example.org"), ("bücher.example", "bücher.example"), ("日本", "日本"),
        ("\u{1b}[31m", "\\u{1b}[31m"), ("a\u{0}b", "a\\u{0}b"), ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"),
        ("\u{202e}\u{2066}\u{200f}", "\\u{202e}\\u{2066}\\u{200f}"), ("a\nb\r\t", "a\\u{a}b\\u{d}\\u{9}"),
        ("\u{2028}\u{feff}\u{e000}\u{e0001}", "\\u{2028}\\u{feff}\\u{e000}\\u{e0001}"),
    ])
    func `everything that steers a terminal is shown`(text: String, shown: String) {
        #expect(text.printable == shown)
    }

    @Test func `lines stay lines`() {
        #expect("a\u{7}\nb\n".printableLines == "a\\u{7}\nb\n")
    }

    @Test(arguments: ["192.0.2.1\0", "192.0.2.1\0.example", "\0", "::1\0"])
    func `NUL ends no address`(text: String) {
        #expect(WireAddress(text) == nil)
    }
}
