import ServerTrust
import SwiftASN1
import TestSupport
import TrustForge

/// One kind of bytes that come from outside.
struct Subject: Sendable {
    let name: String
    /// Those that damage begins with. Not all of them pass, but some do.
    let seeds: [[UInt8]]
    let judge: @Sendable ([UInt8]) -> Finding

    /// Their order is part of the kept inputs: new ones come last.
    static let all = [
        leaf, intermediate, chain, anchor, signedLeaf, signedIntermediate, response, signedResponse, list, signedList,
        file,
        text, fetchedList, signedFetchedList, withoutParameters,
    ]

    /// An input for libFuzzer, and of what is kept: which subject, and its bytes.
    func input(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(Self.all.firstIndex { $0.name == name } ?? 0)] + bytes
    }

    /// What an input says, and what becomes of it; nil for an empty one.
    static func judge(_ input: [UInt8]) -> (subject: Subject, finding: Finding)? {
        guard let first = input.first else { return nil }
        let subject = all[Int(first) % all.count]
        return (subject, subject.judge(Array(input.dropFirst())))
    }
}

/// What became of bytes.
enum Finding {
    /// Refused, or not read, for this reason.
    case refused(String)
    /// Read, or trusted, as it may be.
    case passed
    /// Trusted though it must not be.
    case forbidden(String)

    var name: String {
        switch self {
        case .refused(let reason): reason
        case .passed: "passed, as it may"
        case .forbidden(let what): "FORBIDDEN: \(what)"
        }
    }

    /// Without what the reason says of this one.
    static func refused(by error: any Error) -> Finding {
        .refused(caseName(error))
    }
}

extension Subject {
    /// A file of certificates, as a chain, and of lists; PEM and DER. What may pass is what may of a chain.
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

    /// A host, a pattern or a pin. What may pass: what was read says itself in a way that is read as the same.
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
