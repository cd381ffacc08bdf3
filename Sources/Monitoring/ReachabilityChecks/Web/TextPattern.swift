/// A regular expression whose search takes time in proportion to the product of the lengths of text and pattern, whatever both contain.
///
/// The pattern is compiled to a nondeterministic automaton. All its states are followed at the same time, so there is no backtracking. It
/// works on bytes. The syntax is that of POSIX extended expressions with `\d`, `\w`, `\s` and their negations, the classes `[:alnum:]`,
/// `[:alpha:]`, `[:digit:]`, `[:lower:]`, `[:punct:]`, `[:space:]`, `[:upper:]` and `[:xdigit:]`, `(?:…)`, and `(?i)` at the beginning. `.` is any byte but a line feed. `^` and `$` are the beginning and the end of the text. There are no references.
package struct TextPattern: Hashable, Sendable {
    /// The reason why a text is not a pattern.
    package struct Fault: Error, Hashable, Sendable {
        /// The reason, as a part of a sentence.
        package let text: String

        fileprivate init(_ text: String) {
            self.text = text
        }

        fileprivate static let tooComplex = Fault(
            "is too complex: its elements, counted as often as they are repeated, must be at most about \(TextPattern.mostSteps)"
        )
    }

    /// A step of the automaton. The targets of steps are relative to them.
    fileprivate enum Step: Hashable, Sendable {
        case bytes(ByteSet)
        case start, end, match
        case jump(Int)
        case split(Int, Int)
    }

    package let text: String
    private let steps: [Step]

    /// The maximum length of a pattern, in bytes.
    package static let longest = 256
    /// The maximum number of repetitions in braces.
    fileprivate static let mostRepetitions = 255
    /// The maximum number of steps of an automaton. A search takes time in proportion to it.
    package static let mostSteps = 300

    /// Compiles a pattern.
    package init(_ text: String) throws(Fault) {
        guard !text.isEmpty, text.utf8.count <= Self.longest else {
            throw Fault("must have 1 to \(Self.longest) bytes")
        }
        var parser = PatternParser(text)
        steps = try parser.whole() + [.match]
        guard steps.count <= Self.mostSteps else { throw .tooComplex }
        self.text = text
    }

    /// Returns whether any part of the text matches.
    ///
    /// - Parameter isWhole: False if more text may follow, so that its end is not the end of the text.
    package func matches(_ text: some Collection<UInt8>, isWhole: Bool = true) -> Bool {
        var (now, next) = (States(steps.count), States(steps.count))
        var isStart = true
        for byte in text {
            if add(0, to: &now, isStart: isStart) { return true }
            isStart = false
            for index in now.list {
                if case .bytes(let set) = steps[index], set.contains(byte), add(index + 1, to: &next) { return true }
            }
            now.removeAll()
            swap(&now, &next)
        }
        guard isWhole else { return false }
        // At the end of the text, states may pass `$`.
        var last = States(steps.count)
        return add(0, to: &last, isStart: isStart, isEnd: true)
            || now.list.contains { add($0, to: &last, isStart: isStart, isEnd: true) }
    }

    /// The states that the automaton is in, each once.
    private struct States {
        private(set) var list: [Int] = []
        private var marks: [Bool]

        init(_ count: Int) { marks = [Bool](repeating: false, count: count) }

        mutating func insert(_ index: Int) -> Bool {
            guard !marks[index] else { return false }
            marks[index] = true
            list.append(index)
            return true
        }

        mutating func removeAll() {
            for index in list { marks[index] = false }
            list.removeAll(keepingCapacity: true)
        }
    }

    /// Adds a state and those that are reached without a byte. Returns whether the pattern matches.
    private func add(_ index: Int, to states: inout States, isStart: Bool = false, isEnd: Bool = false) -> Bool {
        var open = [index]
        while let index = open.popLast() {
            guard states.insert(index) else { continue }
            switch steps[index] {
            case .match: return true
            case .jump(let offset): open.append(index + offset)
            case .split(let one, let other): open += [index + other, index + one]
            case .start: if isStart { open.append(index + 1) }
            case .end: if isEnd { open.append(index + 1) }
            case .bytes: break
            }
        }
        return false
    }
}

/// A set of bytes.
private struct ByteSet: Hashable, Sendable {
    private var words = SIMD4<UInt64>(repeating: 0)

    init(_ ranges: ClosedRange<UInt8>...) {
        for range in ranges { insert(range) }
    }

    func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] & 1 << UInt64(byte & 63) != 0 }

    mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
    }

    mutating func formUnion(_ other: ByteSet) { words |= other.words }

    var inverted: ByteSet {
        var other = self
        other.words = ~words
        return other
    }

    static let lowercase = UInt8(ascii: "a")...UInt8(ascii: "z")
    static let uppercase = UInt8(ascii: "A")...UInt8(ascii: "Z")
    static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// The set with the other case of each ASCII letter.
    var folded: ByteSet {
        var other = self
        for letter in Self.lowercase where contains(letter) || contains(letter - 32) {
            other.insert(letter...letter)
            other.insert(letter - 32...letter - 32)
        }
        return other
    }
}

/// A parser that translates each part of a pattern to steps.
private struct PatternParser {
    private let bytes: [UInt8]
    private var index = 0
    private var ignoresCase = false

    init(_ text: String) { bytes = Array(text.utf8) }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[index...].starts(with: text.utf8) else { return false }
        index += text.utf8.count
        return true
    }

    mutating func whole() throws(TextPattern.Fault) -> [TextPattern.Step] {
        ignoresCase = take("(?i)")
        let steps = try choice(depth: 0)
        guard current == nil else { throw .init("has a closing parenthesis without an opening one") }
        return steps
    }

    private mutating func choice(depth: Int) throws(TextPattern.Fault) -> [TextPattern.Step] {
        guard depth < 32 else { throw .init("has too many nested parentheses") }
        var choices: [[TextPattern.Step]] = []
        repeat {
            var steps: [TextPattern.Step] = []
            while let byte = current, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
                steps += try repeated(try atom(depth: depth))
            }
            choices.append(steps)
        } while take("|")
        var all = choices.removeLast()
        for steps in choices.reversed() {
            let rest = all
            all = [.split(1, steps.count + 2)]
            all += steps
            all.append(.jump(rest.count + 1))
            all += rest
        }
        return all
    }

    private mutating func repeated(_ steps: [TextPattern.Step]) throws(TextPattern.Fault) -> [TextPattern.Step] {
        var (least, most) = (0, Int?.none)
        if take("*") {
            most = nil
        } else if take("+") {
            least = 1
        } else if take("?") {
            most = 1
        } else if take("{") {
            let first = number()
            let last = take(",") ? number() : first
            guard take("}"), let first, first <= last ?? first, last ?? first <= TextPattern.mostRepetitions else {
                throw .init("has braces that are not {n}, {n,} or {n,m} with at most \(TextPattern.mostRepetitions)")
            }
            (least, most) = (first, last)
        } else {
            return steps
        }
        // Whether the shortest or the longest part matches makes no difference.
        _ = take("?")
        if let byte = current, "*+{".utf8.contains(byte) { throw .init("has two repetitions in a row") }
        guard steps.count * max(1, most ?? least) <= TextPattern.mostSteps else { throw .tooComplex }
        var all: [TextPattern.Step] = []
        for _ in 0..<least { all += steps }
        guard let most else {
            all.append(.split(1, steps.count + 2))
            all += steps
            all.append(.jump(-1 - steps.count))
            return all
        }
        for _ in least..<most {
            all.append(.split(1, steps.count + 1))
            all += steps
        }
        return all
    }

    private mutating func number() -> Int? {
        let digits = bytes[index...].prefix(4).prefix { ByteSet.digits.contains($0) }
        index += digits.count
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private mutating func atom(depth: Int) throws(TextPattern.Fault) -> [TextPattern.Step] {
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "("):
            if current == UInt8(ascii: "?"), !take("?:") { throw .init("has a group that is not supported") }
            let steps = try choice(depth: depth + 1)
            guard take(")") else { throw .init("has an opening parenthesis without a closing one") }
            return steps
        case UInt8(ascii: "["): return [.bytes(try set())]
        case UInt8(ascii: "."): return [.bytes(ByteSet(0x0a...0x0a).inverted)]
        case UInt8(ascii: "^"): return [.start]
        case UInt8(ascii: "$"): return [.end]
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "{"):
            throw .init("has a repetition without an element before it")
        case UInt8(ascii: "\\"): return [.bytes(folded(try escape()))]
        default: return [.bytes(folded(ByteSet(byte...byte)))]
        }
    }

    private func folded(_ set: ByteSet) -> ByteSet { ignoresCase ? set.folded : set }

    /// Parses the rest of an escape sequence.
    private mutating func escape() throws(TextPattern.Fault) -> ByteSet {
        guard let byte = current else { throw .init("ends with a backslash") }
        index += 1
        let set: ByteSet
        switch byte | 0x20 {
        case UInt8(ascii: "d"): set = ByteSet(ByteSet.digits)
        case UInt8(ascii: "s"): set = ByteSet(0x09...0x0d, 0x20...0x20)
        case UInt8(ascii: "w"): set = ByteSet(ByteSet.digits, ByteSet.lowercase, ByteSet.uppercase, 0x5f...0x5f)
        default:
            let controls: [UInt8: UInt8] = [
                UInt8(ascii: "n"): 0x0a, UInt8(ascii: "r"): 0x0d, UInt8(ascii: "t"): 0x09,
            ]
            if let control = controls[byte] { return ByteSet(control...control) }
            let named = [ByteSet.digits, ByteSet.lowercase, ByteSet.uppercase]
            guard !named.contains(where: { $0.contains(byte) }) else {
                throw .init("has the unknown escape sequence \\\(Unicode.Scalar(byte))")
            }
            return ByteSet(byte...byte)
        }
        // A capital letter is the negation.
        return byte & 0x20 == 0 ? set.inverted : set
    }

    /// Parses the rest of a class such as `[:digit:]` in brackets.
    private mutating func classInBrackets() throws(TextPattern.Fault) -> ByteSet {
        let classes: [(String, ByteSet)] = [
            ("alnum", ByteSet(ByteSet.digits, ByteSet.lowercase, ByteSet.uppercase)),
            ("alpha", ByteSet(ByteSet.lowercase, ByteSet.uppercase)), ("digit", ByteSet(ByteSet.digits)),
            ("lower", ByteSet(ByteSet.lowercase)),
            ("punct", ByteSet(0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e)),
            ("space", ByteSet(0x09...0x0d, 0x20...0x20)), ("upper", ByteSet(ByteSet.uppercase)),
            ("xdigit", ByteSet(ByteSet.digits, 0x41...0x46, 0x61...0x66)),
        ]
        for (name, set) in classes where take(":\(name):]") { return set }
        let names = classes.map { "[:\($0.0):]" }.joined(separator: ", ")
        throw .init("has an unknown class in brackets; the classes are \(names)")
    }

    /// Parses the rest of a set in brackets.
    private mutating func set() throws(TextPattern.Fault) -> ByteSet {
        let isInverted = take("^")
        var (set, isFirst) = (ByteSet(), true)
        while isFirst || current != UInt8(ascii: "]") {
            isFirst = false
            guard let byte = current else { throw .init("has an opening bracket without a closing one") }
            guard byte < 0x80 else { throw .init("has a character in brackets that is not ASCII") }
            index += 1
            if byte == UInt8(ascii: "\\") {
                set.formUnion(try escape())
            } else if byte == UInt8(ascii: "["), let kind = current, ":.=".utf8.contains(kind) {
                set.formUnion(try classInBrackets())
            } else if current == UInt8(ascii: "-"), index + 1 < bytes.count, bytes[index + 1] != UInt8(ascii: "]") {
                let end = bytes[index + 1]
                guard byte <= end, end < 0x80, end != UInt8(ascii: "\\") else {
                    throw .init("has an invalid range in brackets")
                }
                index += 2
                set.insert(byte...end)
            } else {
                set.insert(byte...byte)
            }
        }
        index += 1
        return isInverted ? folded(set).inverted : folded(set)
    }
}
