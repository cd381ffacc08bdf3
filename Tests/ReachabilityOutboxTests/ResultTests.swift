import ReachabilityOutbox
import Testing

/// The result of a request for each status of the server.
@Suite struct ResultTests {
    @Test(arguments: [200, 201, 204, 299]) func `success deletes the request`(status: Int) {
        #expect(OutboxResult(status: status, retryAfter: nil, attempts: 1) == .delivered)
    }

    @Test(arguments: [
        (300, "a redirect: a portal, or the URL has moved"), (301, "a redirect: a portal, or the URL has moved"),
        (302, "a redirect: a portal, or the URL has moved"), (303, "a redirect: a portal, or the URL has moved"),
        (307, "a redirect: a portal, or the URL has moved"), (308, "a redirect: a portal, or the URL has moved"),
        (401, "the server refuses the credentials"), (407, "the proxy requires credentials"),
        (511, "a portal requires a login"),
    ])
    func `a response that is not about the request counts no attempt`(status: Int, cause: String) {
        let result = OutboxResult(status: status, retryAfter: nil, attempts: 1)
        #expect(result == .held(cause: "status \(status), \(cause)"))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504]) func `a temporary failure is tried again`(status: Int) {
        #expect(
            OutboxResult(status: status, retryAfter: nil, attempts: 1) == .retry(after: nil, cause: "status \(status)")
        )
        #expect(
            OutboxResult(status: status, retryAfter: "7", attempts: 1)
                == .retry(after: .seconds(7), cause: "status \(status)")
        )
    }

    @Test(arguments: [400, 403, 404, 405, 409, 410, 413, 415, 422, 451, 501, 505])
    func `every other status rejects the request`(status: Int) {
        #expect(OutboxResult(status: status, retryAfter: nil, attempts: 1) == .rejected(reason: "status \(status)"))
    }

    @Test func `a conflict with an earlier attempt is tried again`() {
        #expect(OutboxResult(status: 409, retryAfter: nil, attempts: 2) == .retry(after: nil, cause: "status 409"))
    }
}
