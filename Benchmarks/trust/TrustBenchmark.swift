import Glibc
import ServerTrust
import TrustForge

/// Measures an evaluation of a chain of three certificates, from DER to the result of ``DefaultTrustEvaluator``. Prints the median in
/// nanoseconds.
///
/// usage: TrustBenchmark forge DIRECTORY           writes the chains that all programs evaluate
///        TrustBenchmark first DIRECTORY COUNT     without a cache
///        TrustBenchmark repeated DIRECTORY COUNT  with a shared `ValidatedChainCache`
///        TrustBenchmark roots                     the first use of the system's roots
@main
enum TrustBenchmark {
    private static let names = ["leaf", "intermediate", "root"]

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("forge", 2): forge(arguments[1])
        case ("first", 3): try evaluate(arguments[1], Int(arguments[2]) ?? 1, cache: nil)
        case ("repeated", 3): try evaluate(arguments[1], Int(arguments[2]) ?? 1, cache: ValidatedChainCache())
        case ("roots", 1): print(nanoseconds { _ = TrustAnchors.system.count })
        default: fail("usage: TrustBenchmark forge DIRECTORY | first|repeated DIRECTORY COUNT | roots")
        }
    }

    private static func forge(_ directory: String) {
        let chains = [
            "ecdsa": [World.leaf, World.intermediate, World.root],
            "rsa": [World.rsaLeaf, World.rsaIntermediate, World.rsaRoot],
        ]
        for (kind, chain) in chains {
            mkdir("\(directory)/\(kind)", 0o755)
            for (name, certificate) in zip(names, chain) {
                guard let file = fopen("\(directory)/\(kind)/\(name).der", "w") else { fail("\(directory): \(errno)") }
                fwrite(certificate.der, 1, certificate.der.count, file)
                fclose(file)
            }
        }
        // The host name and the time for `verify-chain`.
        print(World.host, World.now.secondsSinceEpoch)
    }

    private static func evaluate(_ directory: String, _ count: Int, cache: ValidatedChainCache?) throws {
        let certificates = try names.map { try CertificateFiles.read("\(directory)/\($0).der")[0] }
        let sent = certificates.map(\.derRepresentation)
        let anchors = TrustAnchors([certificates[2]])
        let evaluator = DefaultTrustEvaluator()
        var times: [Int] = []
        // The first tenth warms up and fills the cache.
        for _ in 0..<count + count / 10 + 1 {
            // Copies, because each handshake has its own bytes.
            let copies = sent.map { $0.map(\.self) }
            times.append(
                try nanoseconds {
                    var trust = try ServerTrust(derEncodedChain: copies, host: World.host, cache: cache)
                    trust.anchors = anchors
                    trust.time = World.now
                    try evaluator.evaluate(trust, forHost: World.host)
                }
            )
        }
        print(times.suffix(count).sorted()[count / 2])
    }

    private static func nanoseconds(_ work: () throws -> Void) rethrows -> Int {
        let (seconds, attoseconds) = try ContinuousClock().measure(work).components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    private static func fail(_ message: String) -> Never {
        print(message)
        exit(1)
    }
}
