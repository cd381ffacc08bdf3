/// A regular expression whose search takes time in proportion to the length of the text and of the pattern, whatever both contain.
///
/// The pattern is compiled to a nondeterministic automaton, and all its states are followed together, without backtracking. It works on
/// bytes. The syntax is that of POSIX extended expressions with `\d`, `\w`, `\s` and their negations, `(?:…)`, and `(?i)` at the beginning.
/// `.` is any byte but a line feed. `^` and `$` are the beginning and the end of the text. There are no references.
package struct TextPattern: Hashable, Sendable {
    /// The reason why a text is not a pattern.
    package struct Fault: Error, Hashable, Sendable {
        /// The reason, as a part of a sentence.
        package let text: String

        fileprivate init(_ text: String) {
            self.text = text
        }
    }

    /// A set of bytes.
    fileprivate struct Bytes: Hashable, Sendable {
        private var words = SIMD4<UInt64>(repeating: 0)

        func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] & 1 << UInt64(byte & 63) != 0 }

        mutating func insert(_ range: ClosedRange<UInt8>) {
            for byte in range { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
        }

        mutating func formUnion(_ other: Bytes) {
            words |= other.words
        }

        var inverted: Bytes {
            var other = self
            other.words = ~words
            return other
        }

        /// Adds the other case of each ASCII letter.
        mutating func fold() {
            for letter in UInt8(ascii: "a")...UInt8(ascii: "z") where contains(letter) || contains(letter - 32) {
                insert(letter...letter)
                insert(letter - 32...letter - 32)
            }
        }
    }

    private indirect enum Node {
        case empty, start, end
        case bytes(Bytes)
        case sequence([Node])
        case choice([Node])
        case loop(Node, ClosedRange<Int>?, least: Int)
    }

    private enum Step: Hashable, Sendable {
        case bytes(Bytes)
        case start, end, match
        case jump(Int)
        case split(Int, Int)
    }

    package let text: String
    private let steps: [Step]

    /// The maximum length of a pattern, in bytes.
    package static let longest = 256
    /// The maximum number of repetitions in braces.
    private static let mostRepetitions = 255
    /// The maximum number of steps of an automaton.
    private static let mostSteps = 2000

    /// Compiles a pattern.
    package init(_ text: String) throws(Fault) {
        guard !text.isEmpty, text.utf8.count <= Self.longest else {
            throw Fault("must have 1 to \(Self.longest) bytes")
        }
        var parser = Parser(text)
        let node = try parser.whole()
        var steps: [Step] = []
        try Self.compile(node, &steps)
        self.text = text
        self.steps = steps + [.match]
    }

    // MARK: Compiling

    private static func compile(_ node: Node, _ steps: inout [Step]) throws(Fault) {
        guard steps.count < mostSteps else { throw Fault("is too complex; reduce the repetitions in braces") }
        switch node {
        // A step for each node bounds the time of compiling.
        case .empty: steps.append(.jump(steps.count + 1))
        case .start: steps.append(.start)
        case .end: steps.append(.end)
        case .bytes(let bytes): steps.append(.bytes(bytes))
        case .sequence(let nodes): for node in nodes { try compile(node, &steps) }
        case .choice(let nodes):
            var ends: [Int] = []
            for node in nodes.dropLast() {
                let start = steps.count
                steps.append(.match)
                try compile(node, &steps)
                ends.append(steps.count)
                steps.append(.match)
                steps[start] = .split(start + 1, steps.count)
            }
            if let last = nodes.last { try compile(last, &steps) }
            for end in ends { steps[end] = .jump(steps.count) }
        case .loop(let node, let bounds, let least):
            for _ in 0..<least { try compile(node, &steps) }
            guard let bounds else {
                let start = steps.count
                steps.append(.match)
                try compile(node, &steps)
                steps.append(.jump(start))
                steps[start] = .split(start + 1, steps.count)
                return
            }
            var starts: [Int] = []
            for _ in least..<bounds.upperBound {
                starts.append(steps.count)
                steps.append(.match)
                try compile(node, &steps)
            }
            for start in starts { steps[start] = .split(start + 1, steps.count) }
        }
    }

    // MARK: Matching

    /// Returns whether any part of the text matches.
    package func matches(_ text: some Collection<UInt8>) -> Bool {
        var (now, next) = (States(steps.count), States(steps.count))
        var isStart = true
        for byte in text {
            if add(0, to: &now, isStart: isStart, isEnd: false) { return true }
            isStart = false
            for index in now.list {
                if case .bytes(let bytes) = steps[index], bytes.contains(byte),
                    add(index + 1, to: &next, isStart: false, isEnd: false)
                {
                    return true
                }
            }
            now.removeAll()
            swap(&now, &next)
        }
        // At the end of the text, states may pass `$`.
        var last = States(steps.count)
        if add(0, to: &last, isStart: isStart, isEnd: true) { return true }
        return now.list.contains { index in
            if case .end = steps[index] { add(index, to: &last, isStart: isStart, isEnd: true) } else { false }
        }
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
    private func add(_ index: Int, to states: inout States, isStart: Bool, isEnd: Bool) -> Bool {
        var open = [index]
        while let index = open.popLast() {
            guard states.insert(index) else { continue }
            switch steps[index] {
            case .match: return true
            case .jump(let next): open.append(next)
            case .split(let one, let other): open += [other, one]
            case .start: if isStart { open.append(index + 1) }
            case .end: if isEnd { open.append(index + 1) }
            case .bytes: break
            }
        }
        return false
    }

    // MARK: Parsing

    private struct Parser {
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

        mutating func whole() throws(Fault) -> Node {
            ignoresCase = take("(?i)")
            let node = try choice(depth: 0)
            guard current == nil else { throw Fault("has a closing parenthesis without an opening one") }
            return node
        }

        private mutating func choice(depth: Int) throws(Fault) -> Node {
            guard depth < 32 else { throw Fault("has too many nested parentheses") }
            var choices = [try sequence(depth: depth)]
            while take("|") { choices.append(try sequence(depth: depth)) }
            return choices.count == 1 ? choices[0] : .choice(choices)
        }

        private mutating func sequence(depth: Int) throws(Fault) -> Node {
            var nodes: [Node] = []
            while let byte = current, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
                nodes.append(try repeated(try atom(depth: depth)))
            }
            return nodes.isEmpty ? .empty : .sequence(nodes)
        }

        private mutating func repeated(_ node: Node) throws(Fault) -> Node {
            let bounds: (least: Int, most: Int?)
            if take("*") {
                bounds = (0, nil)
            } else if take("+") {
                bounds = (1, nil)
            } else if take("?") {
                bounds = (0, 1)
            } else if take("{") {
                let least = number()
                let most = take(",") ? number() : least
                guard take("}"), let least, least <= most ?? least, max(least, most ?? 0) <= TextPattern.mostRepetitions
                else {
                    throw Fault(
                        "has braces that are not {n}, {n,} or {n,m} with at most \(TextPattern.mostRepetitions)"
                    )
                }
                bounds = (least, most)
            } else {
                return node
            }
            // Whether the shortest or the longest part matches makes no difference.
            _ = take("?")
            if let byte = current, "*+{".utf8.contains(byte) { throw Fault("has two repetitions in a row") }
            return .loop(node, bounds.most.map { bounds.least...$0 }, least: bounds.least)
        }

        private mutating func number() -> Int? {
            var digits = ""
            while let byte = current, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte, digits.utf8.count < 4 {
                digits.unicodeScalars.append(Unicode.Scalar(byte))
                index += 1
            }
            return Int(digits)
        }

        private mutating func atom(depth: Int) throws(Fault) -> Node {
            guard let byte = current else { return .empty }
            index += 1
            switch byte {
            case UInt8(ascii: "("):
                if current == UInt8(ascii: "?"), !take("?:") { throw Fault("has a group that is not supported") }
                let node = try choice(depth: depth + 1)
                guard take(")") else { throw Fault("has an opening parenthesis without a closing one") }
                return node
            case UInt8(ascii: "["): return .bytes(try set())
            case UInt8(ascii: "."): return .bytes(Self.set(of: 0x0a...0x0a).inverted)
            case UInt8(ascii: "^"): return .start
            case UInt8(ascii: "$"): return .end
            case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "{"):
                throw Fault("has a repetition without an element before it")
            case UInt8(ascii: "\\"): return .bytes(folded(try escape()))
            default: return .bytes(folded(Self.set(of: byte...byte)))
            }
        }

        private func folded(_ set: Bytes) -> Bytes {
            var set = set
            if ignoresCase { set.fold() }
            return set
        }

        private static func set(of ranges: ClosedRange<UInt8>...) -> Bytes {
            ranges.reduce(into: Bytes()) { $0.insert($1) }
        }

        /// Parses the rest of an escape sequence.
        private mutating func escape() throws(Fault) -> Bytes {
            guard let byte = current else { throw Fault("ends with a backslash") }
            index += 1
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            let blanks = Self.set(of: 0x09...0x0d, 0x20...0x20)
            let letters = (UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"))
            let word = Self.set(of: digits, letters.0, letters.1, UInt8(ascii: "_")...UInt8(ascii: "_"))
            switch byte {
            case UInt8(ascii: "d"): return Self.set(of: digits)
            case UInt8(ascii: "D"): return Self.set(of: digits).inverted
            case UInt8(ascii: "s"): return blanks
            case UInt8(ascii: "S"): return blanks.inverted
            case UInt8(ascii: "w"): return word
            case UInt8(ascii: "W"): return word.inverted
            case UInt8(ascii: "n"): return Self.set(of: 0x0a...0x0a)
            case UInt8(ascii: "r"): return Self.set(of: 0x0d...0x0d)
            case UInt8(ascii: "t"): return Self.set(of: 0x09...0x09)
            case letters.0, letters.1, digits:
                throw Fault("has the unknown escape sequence \\\(Character(Unicode.Scalar(byte)))")
            default: return Self.set(of: byte...byte)
            }
        }

        /// Parses the rest of a set in brackets.
        private mutating func set() throws(Fault) -> Bytes {
            let isInverted = take("^")
            var (set, isFirst) = (Bytes(), true)
            while isFirst || current != UInt8(ascii: "]") {
                isFirst = false
                guard let byte = current else { throw Fault("has an opening bracket without a closing one") }
                guard byte < 0x80 else { throw Fault("has a character in brackets that is not ASCII") }
                index += 1
                if byte == UInt8(ascii: "\\") {
                    set.formUnion(try escape())
                } else if current == UInt8(ascii: "-"), index + 1 < bytes.count, bytes[index + 1] != UInt8(ascii: "]") {
                    let end = bytes[index + 1]
                    guard byte <= end, end < 0x80, end != UInt8(ascii: "\\") else {
                        throw Fault("has an invalid range in brackets")
                    }
                    index += 2
                    set.insert(byte...end)
                } else {
                    set.insert(byte...byte)
                }
            }
            index += 1
            set = folded(set)
            return isInverted ? set.inverted : set
        }
    }
}
