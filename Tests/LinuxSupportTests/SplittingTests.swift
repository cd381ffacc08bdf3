import LinuxSupport
import Testing

/// Text from outside, in which separators stand before combining marks and line ends are two bytes.
@Suite struct SplittingTests {
    @Test func `a combining mark hides no separator`() {
        #expect("name:\u{301}abc".split(at: ":") == ["name", "\u{301}abc"])
        #expect("a,\u{301},b,".split(at: ",", omittingEmptySubsequences: false) == ["a", "\u{301}", "b", ""])
        #expect("a,b,c".split(at: ",", maxSplits: 1) == ["a", "b,c"])
        #expect("".split(at: ",", omittingEmptySubsequences: false) == [""])
        #expect("a \u{301}b\tc".words == ["a", "\u{301}b", "c"])
        #expect("\"\u{301}\\\u{301}".replacing(scalars: "\"", with: "\\\"") == "\\\"\u{301}\\\u{301}")
    }

    @Test func `a line ends at each line feed`() {
        #expect("a\r\nb\nc\r\n".split(at: "\n") == ["a\r", "b", "c\r"])
        #expect("a\r\n\nb\u{2028}c\r\n".lines == ["a", "b", "c"])
        #expect("a\r\nb".replacing(scalars: "\n", with: "\\n") == "a\r\\nb")
    }
}
