import FoundationEssentials
import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityRequests

/// Random faults between a session and a server, the same for the same seed. SESSION_SCHEDULES sets the number of schedules, and
/// SESSION_SEED the first seed.
struct SessionFaultTests {
    private enum Fault: CaseIterable {
        case none, unavailable, busy, notFound, cutBody, cutAnswer, found, temporary, permanent
    }

    private static func number(_ name: String, or other: UInt64) -> UInt64 {
        EnvironmentVariable.value(of: name).flatMap { UInt64($0) } ?? other
    }

    @Test func `each request ends once, and a request that is not idempotent is processed at most once at each URL`()
        async throws
    {
        let first = Self.number("SESSION_SEED", or: 1)
        for seed in first..<first + Self.number("SESSION_SCHEDULES", or: 100) { try await play(seed) }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let script = (0..<40).map { _ in Fault.allCases.randomElement(using: &random) ?? .none }
        let method = [HTTPMethod.get, .post, .put, .patch].randomElement(using: &random) ?? .get
        let hasKey = Bool.random(using: &random)
        let (played, places) = (Locked(0), Locked(0))
        // The number of requests that the server may have processed, by method and path.
        let acted = Locked<[String: Int]>([:])
        try await withServer({ seen in
            let fault = script[
                played.withLock { played in
                    defer { played += 1 }
                    return played % script.count
                }
            ]
            if fault != .busy { acted.withLock { $0[seen.method + seen.path, default: 0] += 1 } }
            return Self.reply(fault, places)
        }) { lab in
            var request = URLRequest(text: lab.server.url("/0"), method: method)
            if method != .get { request.httpBody = Data("body".utf8) }
            if hasKey { request.headers.add(name: "Idempotency-Key", value: "\(seed)") }
            let (ends, end) = (Locked(0), Locked(false))
            let data = try lab.session(deadline: .seconds(60)).request(request).validate()
            await withCheckedContinuation { continuation in
                data.responseString { response in
                    ends.withLock { $0 += 1 }
                    #expect((response.error == nil) == (response.value == "end"), "seed \(seed)")
                    let isFirst = end.withLock { end in
                        defer { end = true }
                        return !end
                    }
                    if isFirst { continuation.resume() }
                }
            }
            #expect(ends.withLock { $0 } == 1 && data.state == .finished, "seed \(seed)")
            let most = acted.withLock { acted in
                acted.filter { $0.key.hasPrefix("POST") || $0.key.hasPrefix("PATCH") }.values.max() ?? 0
            }
            if !hasKey { #expect(most <= 1, "processed twice with seed \(seed)") }
            // The number of attempts is limited: three sent attempts of each hop, and four if the server reports that it did nothing.
            #expect(lab.server.seen.count <= 21 * 4, "seed \(seed)")
            #expect(lab.server.seen.allSatisfy { $0.body.isEmpty || $0.body == Array("body".utf8) }, "seed \(seed)")
        }
    }

    private static func reply(_ fault: Fault, _ places: Locked<Int>) -> Reply {
        switch fault {
        case .none: return Reply("end")
        case .unavailable: return Reply("x", status: 503)
        case .busy: return Reply("x", status: 429, fields: ["Retry-After": "0"])
        case .notFound: return Reply("x", status: 404)
        case .cutBody, .cutAnswer:
            var reply = Reply(fault == .cutBody ? "en" : "")
            (reply.length, reply.closes) = (3, true)
            return reply
        case .found, .temporary, .permanent:
            let place = places.withLock { places in
                places += 1
                return places
            }
            let status = fault == .found ? 302 : fault == .temporary ? 307 : 308
            return Reply(status: status, fields: ["Location": "/\(place)"])
        }
    }
}
