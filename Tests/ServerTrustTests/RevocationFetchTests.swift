import LinuxSupport
import SwiftASN1
import TestSupport
import Testing
import TrustForge

@testable import ServerTrust

/// Requests to responders and list servers: their number, content and time limit.
@Suite struct RevocationFetchTests {
    private static let responder = RevocationWorld.responder

    private static func checker(
        _ fetcher: FakeFetcher,
        settings: RevocationSettings = RevocationSettings(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async -> Void = { _ in await Gate().wait() }
    ) -> RevocationChecker {
        RevocationChecker(
            fetcher: fetcher,
            lists: [],
            listURLs: [],
            settings: settings,
            sleep: {
                await sleep($0)
                try Task.checkCancellation()
            },
            makeNonce: { RevocationCase.nonce },
            now: now
        )
    }

    private static func trust(_ checker: RevocationChecker, _ leaf: Forged) throws -> ServerTrust {
        try ServerTrust([leaf], anchors: [RevocationWorld.authority], revocation: checker)
    }

    private static func isTrusted(_ trust: ServerTrust) async -> Bool {
        await RevocationTrustEvaluator(options: [.any, .requirePositiveResponse]).onlineReason(trust) == nil
    }

    @Test(arguments: [RevocationWorld.withResponder, RevocationWorld.withList])
    func `concurrent evaluations share one fetch`(_ leaf: Forged) async throws {
        let gate = Gate()
        let answers: [String: FakeFetcher.Answer] = [
            Self.responder: .bytes(ForgedResponse().der()), RevocationWorld.list: .bytes(ForgedList().der()),
        ]
        let fetcher = FakeFetcher(answers, gate: gate)
        let checker = Self.checker(fetcher)
        let trust = try Self.trust(checker, leaf)
        let trusted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await Self.isTrusted(trust) } }
            while checker.flights.waiting < 50 { await Task.yield() }
            gate.open()
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(trusted == 50)
        #expect(fetcher.requests.count == 1)
        #expect(checker.flights.waiting == 0)
    }

    @Test func `a timeout ends all waiting evaluations, and the next evaluation fetches again`() async throws {
        let clock = Gate()
        let fetcher = FakeFetcher([Self.responder: .never])
        let checker = Self.checker(fetcher, sleep: { _ in await clock.wait() })
        let trust = try Self.trust(checker, RevocationWorld.withResponder)
        let trusted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 { group.addTask { await Self.isTrusted(trust) } }
            while checker.flights.waiting < 10 { await Task.yield() }
            clock.open()
            return await group.contains(true)
        }
        #expect(!trusted)
        #expect(fetcher.requests.count == 1)
        #expect(await !Self.isTrusted(trust))
        #expect(fetcher.requests.count == 2)
    }

    /// With soft fail, which requires no response, a source that failed is skipped for a minute.
    @Test(arguments: [
        FakeFetcher.Answer.never, .fails(.timedOut), .fails(.status(503)), .fails(.failed("Connection refused")),
    ])
    func `with soft fail a failed source is skipped for a minute`(_ answer: FakeFetcher.Answer) async throws {
        let clock = Locked(ContinuousClock.now)
        for (leaf, url) in [
            (RevocationWorld.withResponder, Self.responder), (RevocationWorld.withList, RevocationWorld.list),
        ] {
            let fetcher = FakeFetcher([url: answer])
            let timers = Locked(0)
            let checker = Self.checker(fetcher, now: { clock.withLock { $0 } }) { duration in
                guard duration != RevocationSettings().headStart else { return }
                // The timeout elapses as soon as the request was sent.
                let count = timers.withLock { timers in
                    timers += 1
                    return timers
                }
                while fetcher.requests.count < count, !Task.isCancelled { await Task.yield() }
            }
            let trust = try Self.trust(checker, leaf)
            let soft = RevocationTrustEvaluator(options: .any)
            for _ in 0..<3 { try await soft.evaluateOnline(trust, forHost: World.host) }
            #expect(fetcher.requests.count == 1)
            // An evaluation that requires a response contacts the source anyway.
            #expect(await !Self.isTrusted(trust))
            #expect(fetcher.requests.count == 2)
            clock.withLock { $0 += .seconds(59) }
            try await soft.evaluateOnline(trust, forHost: World.host)
            #expect(fetcher.requests.count == 2)
            clock.withLock { $0 += .seconds(1) }
            try await soft.evaluateOnline(trust, forHost: World.host)
            #expect(fetcher.requests.count == 3)
            checker.removeAll()
            try await soft.evaluateOnline(trust, forHost: World.host)
            #expect(fetcher.requests.count == 4)
        }
    }

    @Test func `a source that responds again is contacted again`() async throws {
        let fetcher = FakeFetcher([Self.responder: .fails(.status(503))])
        let clock = Gate()
        let checker = Self.checker(fetcher, sleep: { _ in await clock.wait() })
        let trust = try Self.trust(checker, RevocationWorld.withResponder)
        let soft = RevocationTrustEvaluator(options: .any)
        try await soft.evaluateOnline(trust, forHost: World.host)
        // A good response that may not be cached. An evaluation that requires a response fetches it, which clears the
        // failure.
        fetcher.set(Self.responder, .bytes(ForgedResponse(nextUpdate: nil).der()))
        #expect(await Self.isTrusted(trust))
        fetcher.set(Self.responder, .bytes(ForgedResponse.revoked().der()))
        #expect((try? await soft.evaluateOnline(trust, forHost: World.host)) == nil)
        #expect(fetcher.requests.count == 3)
    }

    /// A cancellation is not a failure of the source.
    @Test func `a source is contacted again after a cancelled fetch`() async throws {
        let fetcher = FakeFetcher([Self.responder: .never])
        let checker = Self.checker(fetcher)
        let trust = try Self.trust(checker, RevocationWorld.withResponder)
        let soft = RevocationTrustEvaluator(options: .any)
        for count in 1...2 {
            let task = Task { try await soft.evaluateOnline(trust, forHost: World.host) }
            while fetcher.requests.count < count { await Task.yield() }
            task.cancel()
            _ = await task.result
        }
        #expect(fetcher.requests.count == 2)
    }

    /// Neither timeout elapses. The list is fetched after the responder's head start.
    @Test func `the list is fetched while the responder hangs`() async throws {
        let fetcher = FakeFetcher([Self.responder: .never, RevocationWorld.list: .bytes(ForgedList().der())])
        let checker = Self.checker(fetcher, sleep: { if $0 != RevocationSettings().headStart { await Gate().wait() } })
        #expect(await Self.isTrusted(try Self.trust(checker, RevocationWorld.withBoth)))
        #expect(fetcher.requests.map(\.url) == [Self.responder, RevocationWorld.list])
        #expect(checker.flights.waiting == 0)
    }

    @Test func `cancelling one evaluation does not affect others that share its fetch`() async throws {
        let gate = Gate()
        let fetcher = FakeFetcher([Self.responder: .bytes(ForgedResponse().der())], gate: gate)
        let checker = Self.checker(fetcher)
        let trust = try Self.trust(checker, RevocationWorld.withResponder)
        let stays = Task { await Self.isTrusted(trust) }
        let goes = Task { await Self.isTrusted(trust) }
        while checker.flights.waiting < 2 { await Task.yield() }
        goes.cancel()
        #expect(await !goes.value)
        #expect(checker.flights.waiting == 1)
        gate.open()
        #expect(await stays.value)
    }

    @Test func `the fetch is cancelled when all its evaluations are`() async throws {
        let fetcher = FakeFetcher([Self.responder: .never])
        let checker = Self.checker(fetcher)
        let trust = try Self.trust(checker, RevocationWorld.withResponder)
        let task = Task { await Self.isTrusted(trust) }
        while checker.flights.waiting < 1 { await Task.yield() }
        task.cancel()
        #expect(await !task.value)
        #expect(checker.flights.waiting == 0)
        // The task is cancelled before the evaluation starts.
        let late = Task {
            await Gate().wait()
            return await Self.isTrusted(trust)
        }
        late.cancel()
        #expect(await !late.value)
        #expect(checker.flights.waiting == 0)
    }

    @Test func `an OCSP request has the expected method, fields, limits and nonce`() async throws {
        let fetcher = FakeFetcher([:])
        _ = await Self.isTrusted(try Self.trust(Self.checker(fetcher), RevocationWorld.withResponder))
        let request = try #require(fetcher.requests.first)
        #expect(request.method == .post)
        #expect(request.url == Self.responder)
        #expect(request.contentType == "application/ocsp-request")
        #expect(request.accept == "application/ocsp-response")
        #expect(request.timeLimit == .seconds(5))
        #expect(request.sizeLimit == 64 << 10)
        // The CertID equals that of the forged response. The nonce is at the end.
        let der = ForgedResponse().der()
        let id = try #require(Self.range(of: Encoded.identifier([1, 3, 14, 3, 2, 26]), in: der)).lowerBound - 2
        let length = Int(der[id - 1])
        #expect(Self.range(of: Array(der[id..<id + length]), in: request.body) != nil)
        #expect(Array(request.body.suffix(32)) == RevocationCase.nonce)
    }

    @Test func `an OCSP request without a nonce is a GET with the request in the URL`() async throws {
        var settings = RevocationSettings()
        settings.usesNonce = false
        let fetcher = FakeFetcher([:])
        let checker = Self.checker(fetcher, settings: settings)
        _ = await Self.isTrusted(try Self.trust(checker, RevocationWorld.withResponder))
        let request = try #require(fetcher.requests.first)
        #expect(request.method == .get)
        #expect(request.contentType == nil)
        #expect(request.body.isEmpty)
        #expect(request.url.hasPrefix("http://ocsp.example/M"))
        let encoded = request.url.dropFirst(Self.responder.count)
        #expect(encoded.allSatisfy { $0.isLetter || $0.isNumber || $0 == "%" })
        let base64 = encoded.split(separator: "%", omittingEmptySubsequences: false).enumerated().map { index, part in
            let codes: [Substring: String] = ["2B": "+", "2F": "/", "3D": "="]
            return index == 0 ? String(part) : (codes[part.prefix(2)] ?? "?") + part.dropFirst(2)
        }.joined()
        let bytes = try #require(Base64.decode(base64[...]))
        #expect(throws: Never.self) { try DER.parse(bytes) }
    }

    @Test(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"))
    func `openssl reads the OCSP request`() async throws {
        let fetcher = FakeFetcher([:])
        _ = await Self.isTrusted(try Self.trust(Self.checker(fetcher), RevocationWorld.withResponder))
        let text = try OpenSSL.text(ofRequest: try #require(fetcher.requests.first).body)
        #expect(text.contains("Hash Algorithm: sha1"))
        #expect(text.contains("OCSP Nonce"))
        let serial = RevocationWorld.withResponder.x509.serialNumber.bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        #expect(text.contains(serial))
    }

    private static func range(of part: [UInt8], in whole: [UInt8]) -> Range<Int>? {
        whole.indices.first { whole[$0...].starts(with: part) }.map { $0..<$0 + part.count }
    }
}
