import ServerTrust

extension TrustCase {
    static let chains: [TrustCase] = [
        TrustCase("good") { _ in },
        TrustCase("good, RSA") {
            $0.send(World.rsaLeaf, World.rsaIntermediate)
            $0.trust(World.rsaRoot)
        },
        TrustCase("good, P-384 and Ed25519") {
            let root = Blueprint.authority("P-384 Root").with(\.key, .p384("P-384 Root")).signed()
            let middle = Blueprint.authority("Ed25519").with(\.key, .ed25519("Ed25519")).signed(by: root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.trust(root)
        },
        TrustCase("the root is sent too") { $0.send(World.leaf, World.intermediate, World.root) },
        TrustCase("sent in the wrong order, one twice, one of others") {
            $0.send(World.leaf, World.root, World.strangeRoot, World.intermediate, World.intermediate)
        },
        TrustCase("no issuer and subject key identifiers") {
            let middle = Blueprint.authority("Plain").with(\.hasIdentifiers, false).signed(by: World.root)
            $0.send(Blueprint.leaf().with(\.hasIdentifiers, false).signed(by: middle), middle)
        },
        TrustCase("missing intermediate") {
            $0.send(World.leaf)
            $0.refuse(.unknownIssuer(subject: World.host, issuer: "CN=Intermediate,O=Forge"))
        },
        TrustCase("unknown root, not sent") {
            $0.send(World.strangeLeaf)
            $0.refuse(.unknownIssuer(subject: "stranger", issuer: "CN=Strange Root,O=Forge"))
        },
        TrustCase("unknown root, sent") {
            $0.send(World.strangeLeaf, World.strangeRoot)
            $0.refuse(.untrustedRoot(subject: "Strange Root"))
        },
        TrustCase("self-signed, no authority") {
            $0.send(Blueprint.leaf("selfish").signed())
            $0.refuse(.selfSigned(subject: "selfish"))
        },
        TrustCase("self-signed, an authority") {
            $0.send(Blueprint.leaf("selfish").with(\.authority, .isCertificateAuthority(maxPathLength: nil)).signed())
            $0.refuse(.selfSigned(subject: "selfish"))
        },
        TrustCase("self-signed, no authority, an anchor") {
            let own = Blueprint.leaf("selfish").signed()
            $0.send(own)
            $0.trust(own)
        },
        TrustCase("self-signed, an authority, an anchor") {
            let own = Blueprint.leaf("selfish").with(\.authority, .isCertificateAuthority(maxPathLength: nil)).signed()
            $0.send(own)
            $0.trust(own)
        },
        TrustCase("the intermediate is the anchor") {
            $0.send(World.leaf)
            $0.trust(World.intermediate)
        },
        TrustCase("the server's certificate is the anchor") {
            $0.send(World.leaf)
            $0.trust(World.leaf)
        },
        TrustCase("another certificate with the anchor's name and key identifier") {
            let fake = Blueprint.authority("Root").with(\.key, .p256("fake")).signed()
            $0.send(Blueprint.leaf().signed(by: fake), fake)
            $0.refuse(.badSignature(subject: "Root"))
        },
        TrustCase("not signed with the issuer's key") {
            let thief = World.intermediate.inHands(of: .p256("thief"))
            $0.send(Blueprint.leaf().signed(by: thief), World.intermediate)
            $0.refuse(.badSignature(subject: World.host))
        },
        TrustCase("two intermediates of one name, the other key first") {
            let other = Blueprint.authority("Intermediate").with(\.key, .p256("other")).signed(by: World.root)
            $0.send(World.leaf, other, World.intermediate)
        },
        TrustCase("cross-signed, the old root has expired") {
            let old = Blueprint.authority("Old Root").with(\.ends, World.begins).signed()
            let crossed = Blueprint.authority("Root").signed(by: old)
            $0.send(World.leaf, World.intermediate, crossed)
            $0.trust(old, World.root)
        },
        TrustCase("cross-signed, only the old root is an anchor") {
            let old = Blueprint.authority("Old Root").signed()
            let crossed = Blueprint.authority("Root").signed(by: old)
            $0.send(World.leaf, World.intermediate, crossed)
            $0.trust(old)
        },
        TrustCase("cross-signed, the shorter path has expired") {
            let expired = Blueprint.authority("Intermediate").with(\.ends, World.begins).signed(by: World.root)
            let other = Blueprint.authority("Other Root").signed()
            let good = Blueprint.authority("Intermediate").signed(by: other)
            $0.send(World.leaf, expired, good)
            $0.trust(World.root, other)
        },
        TrustCase("two authorities that have signed only each other") {
            let one = Blueprint.authority("One").signed()
            let other = Blueprint.authority("Other").signed(by: one)
            let back = Blueprint.authority("One").signed(by: other)
            $0.send(Blueprint.leaf().signed(by: other), other, back)
            $0.refuse(.unknownIssuer(subject: "One", issuer: "CN=Other,O=Forge"))
        },
        TrustCase("ten certificates") {
            let chain = line(of: 8)
            $0.sent = chain.map(\.der)
        },
        TrustCase("eleven certificates") {
            let chain = line(of: 9)
            $0.sent = chain.map(\.der)
            $0.refuse(.tooComplex("it would have more than 10 certificates"))
            $0.openSSL = .differs("OpenSSL allows a hundred")
        },
        TrustCase("a maze of intermediates with one name") {
            let maze = (0..<12).map {
                Blueprint.authority("Maze").with(\.key, .p256("maze \($0)")).with(\.issuerName, "Maze")
            }
            let walls = maze.map { $0.signed(by: World.strangeRoot) }
            let leaf = Blueprint.leaf().with(\.hasIdentifiers, false).signed(by: walls[11])
            $0.sent = [leaf.der] + walls.map(\.der)
            $0.refuse(.badSignature(subject: "Maze"))
        },
        TrustCase("a maze in which every signature is good") {
            $0.sent = maze(of: 24)
            $0.refuse(.tooComplex("more than 64 signatures to check"))
        },
        TrustCase("no anchors") {
            $0.anchors = []
            $0.refuse(.noAnchors("the list is empty"))
            $0.openSSL = .cannotSay
        },
        TrustCase("no certificates") {
            $0.sent = []
            $0.refuse(.noCertificates)
            $0.openSSL = .cannotSay
        },
        TrustCase("too many certificates") {
            $0.sent = [World.leaf.der] + Array(repeating: World.intermediate.der, count: 32)
            $0.refuse(.tooComplex("the server sent 33 certificates, 32 are allowed"))
            $0.openSSL = .differs("OpenSSL accepts any number")
        },
    ]

    /// Returns a leaf and a number of intermediates, without the root.
    private static func line(of count: Int) -> [Forged] {
        var chain = [World.root]
        for index in 0..<count { chain.append(Blueprint.authority("Line \(index)").signed(by: chain[index])) }
        return [Blueprint.leaf().signed(by: chain[count])] + chain.dropFirst().reversed()
    }

    /// Returns authorities with the same name, each signed by each key. Without a limit the number of paths is the
    /// number of their permutations.
    private static func maze(of count: Int) -> [[UInt8]] {
        let name = Blueprint.authority("Maze").signed()
        let first = Blueprint.authority("Maze").with(\.key, .p256("maze 0")).with(\.hasIdentifiers, false)
            .signed(by: name.inHands(of: .p256("maze 1")))
        let others = (1..<count).map { index in
            Blueprint.authority("Maze").with(\.key, .p256("maze \(index)")).with(\.hasIdentifiers, false)
                .signed(by: first.inHands(of: .p256("maze \((index * 7 + 1) % count)")))
        }
        return [Blueprint.leaf().with(\.hasIdentifiers, false).signed(by: first).der] + ([first] + others).map(\.der)
    }
}
