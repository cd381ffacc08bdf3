import ServerTrust
import SwiftASN1
import TestSupport
import TrustForge

/// One kind of external input.
struct Subject: Sendable {
    let name: String
    /// The inputs before the damage. Some of them pass.
    let seeds: [[UInt8]]
    let judge: @Sendable ([UInt8]) -> Finding

    /// All subjects. Their order is part of the kept inputs, so add new ones at the end.
    static let all = [
        leaf, intermediate, chain, anchor, signedLeaf, signedIntermediate, response, signedResponse, list, signedList,
        file,
        text, fetchedList, signedFetchedList, withoutParameters,
    ]

    /// Returns an input for libFuzzer and for kept files: the number of the subject, and the bytes.
    func input(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(Self.all.firstIndex { $0.name == name } ?? 0)] + bytes
    }

    /// Returns the subject of an input and the result; nil for an empty input.
    static func judge(_ input: [UInt8]) -> (subject: Subject, finding: Finding)? {
        guard let first = input.first else { return nil }
        let subject = all[Int(first) % all.count]
        return (subject, subject.judge(Array(input.dropFirst())))
    }
}

/// The result of an input.
enum Finding {
    /// The input was refused or not parsed, for this reason.
    case refused(String)
    /// The input was parsed or trusted, which is permitted.
    case passed
    /// The input was trusted, which is forbidden.
    case forbidden(String)

    var name: String {
        switch self {
        case .refused(let reason): reason
        case .passed: "passed, as it may"
        case .forbidden(let what): "FORBIDDEN: \(what)"
        }
    }

    /// Returns a refusal with the name of an error, without its details.
    static func refused(by error: any Error) -> Finding {
        .refused(caseName(error))
    }
}

extension Subject {
    /// A file with a chain or with lists, in PEM or DER. A chain may pass if its certificates are unchanged.
    static let file = Subject(name: "file", seeds: files) { bytes in
        let file = ScratchFile(bytes)
        let lists = try? RevocationList.read(file.path)
        do {
            var trust = try ServerTrust(certificates: try CertificateFiles.read(file.path), host: World.host)
            trust.anchors = Good.anchors
            trust.time = World.now
            return Good.judge(trust)
        } catch {
            return lists == nil ? .refused(by: error) : .passed
        }
    }

    private static let files: [[UInt8]] = {
        let chains = Good.families.map { Array(PEM.text([$0.leaf.der, $0.intermediate.der]).utf8) }
        return chains + [World.leaf.der, ForgedList().der(), Array(ForgedList().pem().utf8)]
    }()

    /// A host, a pattern or a pin. A parsed value may pass if its description is parsed to an equal value.
    static let text = Subject(name: "text", seeds: texts.map { Array($0.utf8) }) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let host = try? ServerHost(text)
        if let host, (try? ServerHost(host.description)) != host {
            return .forbidden("the host \(host) reads otherwise")
        }
        let pin = try? PublicKeyPin(text)
        if let pin, (try? PublicKeyPin(pin.description)) != pin { return .forbidden("the pin \(pin) reads otherwise") }
        let pattern = try? HostPattern(text)
        if let host, let pattern, !pattern.matches(host) { return .forbidden("\(text) does not match itself") }
        return host == nil && pin == nil && pattern == nil ? .refused("not read") : .passed
    }

    private static let texts = [
        "example.org", "bücher.example.org", "[2001:db8::1%eth0]", "192.0.2.1", "**.example.org", "*.example.org",
        "xn--bcher-kva.example", World.leaf.pin.description, "sha256//" + World.root.pin.description.dropFirst(7),
    ]
}
