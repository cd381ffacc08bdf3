import Glibc
import TrustForge

/// Damages what TLS servers, responders and files give to ServerTrust: never a crash, and never a pass that ``Subject`` does not
/// allow. Scripts/mutate and Scripts/fuzz run it.
///
/// usage: TrustFuzzer mutate COUNT SEED FILE     random damage; FILE keeps the input that is being judged
///        TrustFuzzer again INDEX SEED FILE      one of those, though with other signatures
///        TrustFuzzer judge FILE                 an input that was kept
///
/// With LIBFUZZER it has libFuzzer's main function instead, and its arguments.
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
