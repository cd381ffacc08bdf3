import LinuxSupport
import Testing

/// Names of other scripts in ASCII; the pairs are those of RFC 3492 and of registries.
@Suite struct IDNATests {
    @Test(arguments: [
        ("Example.ORG", "example.org"), ("", ""), ("a..b", "a..b"), ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"), ("bu\u{308}cher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"), ("παράδειγμα.δοκιμή", "xn--hxajbheg2az3al.xn--jxalpdlp"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("a．b｡ü", "a.b.xn--tda"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ])
    func `is encoded`(text: String, ascii: String) {
        #expect(IDNA.ascii(text) == ascii)
    }

    @Test(arguments: [
        // Full-width letters, a joiner, a sign, a mark in front, hyphens that only A-labels have, blanks, control bytes.
        "ａ.example", "ü\u{200d}.example", "☃.example", "\u{301}a.example", "ab--ü", "ü-", "-ü", "ü ", "ü\u{1b}",
        String(repeating: "ü", count: 64),
    ])
    func `has no such form`(text: String) {
        #expect(IDNA.ascii(text) == nil)
    }
}
