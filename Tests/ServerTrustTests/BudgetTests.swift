import Testing
import TrustForge
import X509

@testable import ServerTrust

/// The maximum work that certificates of an unknown server can cause. The tests count steps and do not measure time.
@Suite struct BudgetTests {
    private static func trust(_ sent: [Forged]) throws -> ServerTrust {
        try ServerTrust(sent, anchors: [World.root])
    }

    /// Returns the reason of a refusal, and the work that the evaluation took.
    private static func judged(_ trust: ServerTrust) -> (reason: TrustFailure?, work: EvaluationBudget.Work) {
        let budget = EvaluationBudget(trust.requirements)
        do {
            _ = try trust.validatedChain(forHost: World.host, budget: budget)
            return (nil, budget.spent)
        } catch {
            return (error.reason, budget.spent)
        }
    }

    private static func hosts(_ count: Int, _ domain: String) -> [GeneralName] {
        (0..<count).map { .dnsName("n\($0).\(domain)") }
    }

    @Test(arguments: [(12, 2), (8, 3), (6, 4), (24, 1)])
    func `the search through a mesh of authorities ends at the limit`(_ keys: Int, _ copies: Int) throws {
        var trust = try Self.trust(CostlyChain.mesh(keys: keys, copies: copies))
        let (_, work) = Self.judged(trust)
        #expect(work.signatures <= 64)
        #expect(work.steps <= 1000)
        // Signatures that were already checked cost nothing, but the steps still count.
        trust.requirements.maximumSignatureChecks = .max
        let (reason, more) = Self.judged(trust)
        guard copies > 1 else { return }
        #expect(reason == .tooComplex("more than 1000 certificates to try as issuers"))
        #expect(more.steps == 1000)
    }

    /// There are at most 64 signatures but 6561 paths. Without the limit the search took a second.
    @Test func `the search through layers of cross-signed authorities ends at the limit`() throws {
        let (reason, work) = Self.judged(try Self.trust(CostlyChain.layers(8, copies: 3)))
        #expect(reason == .tooComplex("more than 1000 certificates to try as issuers"))
        #expect(work.steps == 1000)
        #expect(work.signatures <= 64)
    }

    @Test func `the step limit applies also if only pinned keys are compared`() throws {
        var trust = try Self.trust(CostlyChain.mesh(keys: 8, copies: 3))
        trust.requirements.maximumSignatureChecks = .max
        let keys = [World.root.certificate.publicKey]
        let evaluator = PublicKeysTrustEvaluator(keys: keys, performDefaultValidation: false, validateHost: false)
        #expect(evaluator.reason(trust) == .notPinned(subject: World.host))
        trust.requirements.maximumPathSteps = 100
        #expect(evaluator.reason(trust) == .tooComplex("more than 100 certificates to try as issuers"))
    }

    @Test func `comparisons of names with constraints are limited for the whole evaluation`() throws {
        let (reason, work) = Self.judged(
            try Self.trust(
                CostlyChain.constrained(names: Self.hosts(200, "a.example"), excluded: Self.hosts(100, "b.example"))
            )
        )
        #expect(reason == nil)
        // 100 constraints are read. Each is compared with 202 names: 200 names, example.org and the subject.
        #expect(work.comparisons == 100 + 202 * 100)
        let (tooMany, less) = Self.judged(
            try Self.trust(
                CostlyChain.constrained(names: Self.hosts(500, "a.example"), excluded: Self.hosts(101, "b.example"))
            )
        )
        #expect(tooMany == .tooComplex("more than 50000 comparisons of names with name constraints"))
        #expect(less.comparisons <= 50_000)
    }

    /// The count continues with the next authority of the same name and key.
    @Test func `no other chain is tried when the limit is reached`() throws {
        let names = Self.hosts(300, "a.example")
        let constraints = NameConstraints(excludedSubtrees: Self.hosts(300, "b.example"))
        let authorities = (0..<10).map { index in
            Blueprint.authority("Constrained").with(\.key, .p256("Constrained")).with(\.constraints, constraints)
                .with(\.ends, World.ends.advanced(by: .seconds(index))).signed(by: World.root)
        }
        let leaf = Blueprint.leaf(names: [.dnsName(World.host)] + names).signed(by: authorities[0])
        let (reason, work) = Self.judged(try Self.trust([leaf] + authorities))
        #expect(reason == .tooComplex("more than 50000 comparisons of names with name constraints"))
        #expect(work == EvaluationBudget.Work(steps: 2, signatures: 2, comparisons: 300))
    }

    @Test func `a name with a set of more than 32 elements is refused`() throws {
        let wide = CostlyChain.wide(3, width: 400)
        let error = #expect(throws: TrustCertificateError.self) { try TrustCertificate(derEncoded: wide[1].der) }
        #expect(error?.description.contains("a set of a name has more than 32 elements") == true)
        let (reason, _) = Self.judged(try Self.trust([World.leaf, World.intermediate] + wide.dropFirst()))
        #expect(reason == nil)
        // The limit applies to names in extensions, too.
        let names: [GeneralName] = [.directoryName(CostlyChain.wideName(400))]
        let (named, _) = Self.judged(try Self.trust([World.leaf(names: names), World.intermediate]))
        #expect(named == .unreadableExtension(subject: World.host, name: "subjectAltName"))
        let (constrained, _) = Self.judged(try Self.trust(CostlyChain.constrained(names: [], excluded: names)))
        #expect(constrained == .unreadableExtension(subject: "Constrained", name: "nameConstraints"))
    }

    /// The chains of real servers need much less work than each limit permits.
    @Test func `realistic chains stay far below the limits`() throws {
        let issuing = Blueprint.authority("Issuing").signed(by: World.intermediate)
        let oldRoot = Blueprint.authority("Old Root").signed()
        let crossed = Blueprint.authority("Root").signed(by: oldRoot)
        let leaf = Blueprint.leaf(names: [.dnsName(World.host)] + Self.hosts(400, "example.com")).signed(by: issuing)
        let technical = CostlyChain.constrained(
            names: Self.hosts(100, "example.org"),
            permitted: [.dnsName("example.org")] + Self.hosts(40, "example.net"),
            excluded: [.ipAddress(.init(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0]))]
        )
        for sent in [[leaf, issuing, World.intermediate, World.root, crossed], technical] {
            let (reason, work) = Self.judged(try Self.trust(sent))
            #expect(reason == nil)
            #expect(work.steps <= 10)
            #expect(work.signatures <= 6)
            #expect(work.comparisons <= 5000)
        }
    }

    @Test func `a cancelled task does no more work`() async throws {
        let trust = try Self.trust(CostlyChain.mesh(keys: 8, copies: 3))
        let good = try Self.trust([World.leaf, World.intermediate])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return [Self.judged(trust), Self.judged(good)]
        }
        for (reason, work) in await task.value {
            #expect(reason == .cancelled)
            #expect(work == EvaluationBudget.Work())
        }
    }
}
