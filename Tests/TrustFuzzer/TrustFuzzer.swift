import Glibc
import TestSupport
import TrustForge

/// A program that damages the input of ServerTrust from TLS servers, responders and files. No input may cause a
/// crash, or a pass that ``Subject`` forbids. Scripts/mutate and Scripts/fuzz run it.
///
/// usage: TrustFuzzer mutate COUNT SEED FILE     random damage; FILE keeps the input that is being judged
///        TrustFuzzer again INDEX SEED FILE      one of those, though with other signatures
///        TrustFuzzer judge FILE                 an input that was kept
///
/// With LIBFUZZER the program has libFuzzer's main function and arguments instead.
#if !LIBFUZZER
@main
#endif
enum TrustFuzzer {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, Array(arguments.dropFirst())) {
        case ("mutate", let rest) where rest.count == 3: mutate(0..<number(rest[0]), UInt64(number(rest[1])), rest[2])
        case ("again", let rest) where rest.count == 3:
            mutate(number(rest[0])..<number(rest[0]) + 1, UInt64(number(rest[1])), rest[2])
        case ("judge", let rest) where rest.count == 1: judge(rest[0])
        default: fail("usage: TrustFuzzer mutate COUNT SEED FILE | again INDEX SEED FILE | judge FILE")
        }
    }

    private static func mutate(_ indices: Range<Int>, _ seed: UInt64, _ path: String) {
        print("seed \(seed)")
        for (name, passed) in Mutations.seedsThatPass() where passed == 0 { fail("nothing passes undamaged: \(name)") }
        let kept = KeptInput(path)
        var mutations = Mutations(seed: seed)
        let bad = mutations.run(indices, keeping: kept)
        print(mutations.report, terminator: "")
        if let bad { fail("FAILED: seed \(seed), index \(bad)") }
        print("\(indices.count) mutations with seed \(seed): no crash, and nothing passed that must not")
    }

    private static func judge(_ path: String) {
        guard let (subject, finding) = Subject.judge(bytes(of: path)) else { fail("\(path) is empty") }
        print("\(subject.name): \(finding.name)")
        if case .forbidden = finding { exit(1) }
    }

    private static func bytes(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { fail("\(path) cannot be read: error \(errno)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return bytes
    }

    private static func number(_ text: String) -> Int {
        guard let number = Int(text), number >= 0 else { fail("\(text) is no number") }
        return number
    }

    static func fail(_ message: String) -> Never {
        print(message)
        exit(1)
    }
}

/// The current input in a file, so that it is kept after a crash.
struct KeptInput: ~Copyable {
    private let descriptor: Int32

    init(_ path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { fatalError("\(path) cannot be written: error \(errno)") }
    }

    func keep(_ input: [UInt8]) {
        guard pwrite(descriptor, input, input.count, 0) == input.count, ftruncate(descriptor, input.count) == 0 else {
            fatalError("the input cannot be kept: error \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }
}

/// A temporary file without a name, for code that reads files. It is deleted with the value.
struct ScratchFile: ~Copyable {
    private let descriptor: Int32

    var path: String { "/proc/self/fd/\(descriptor)" }

    init(_ bytes: [UInt8]) {
        var name = Array("/tmp/damaged-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0, unlink(name) == 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            fatalError("no file can be made: error \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }
}

/// Valid bytes of each subject with random damage, reproducible by seed.
struct Mutations {
    private let seed: UInt64
    private var counts: [String: [String: Int]] = [:]

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Runs mutations. Returns the index of the first forbidden result; nil if there is none.
    mutating func run(_ indices: Range<Int>, keeping kept: borrowing KeptInput) -> Int? {
        for index in indices {
            let subject = Subject.all[index % Subject.all.count]
            // Each mutation has a separate generator, so that it can be repeated without the earlier ones.
            var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 0x9e37_79b9_7f4a_7c15)
            guard let good = subject.seeds.randomElement(using: &generator) else { continue }
            let bytes =
                Bool.random(using: &generator)
                ? DamagedBytes.make(from: good, using: &generator)
                : DamagedBytes.makeInPlace(from: good, using: &generator)
            kept.keep(subject.input(bytes))
            let finding = subject.judge(bytes)
            counts[subject.name, default: [:]][finding.name, default: 0] += 1
            if case .forbidden = finding { return index }
        }
        return nil
    }

    /// Returns the number of undamaged inputs of each subject that pass. It must not be 0, because otherwise refusals
    /// would not be caused by damage.
    static func seedsThatPass() -> [(name: String, passed: Int)] {
        Subject.all.map { subject in
            let passed = subject.seeds.filter { seed in
                guard case .passed = subject.judge(seed) else { return false }
                return true
            }
            return (subject.name, passed.count)
        }
    }

    /// The number of results by reason.
    var report: String {
        Subject.all.compactMap { subject in
            guard let reasons = counts[subject.name] else { return nil }
            let lines = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { reason, count in
                String(repeating: " ", count: max(1, 10 - String(count).count)) + "\(count)  \(reason)\n"
            }
            return "\(subject.name)\n" + lines.joined()
        }.joined()
    }
}
