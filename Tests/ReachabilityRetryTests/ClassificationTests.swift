import Testing

@testable import ReachabilityRetry

/// Error numbers, Retry-After, and the validation of policies and targets.
@Suite struct ClassificationTests {
    @Test func `error numbers map to the stages of the table`() {
        for number: Int32 in [111, 101, 113, 110, 104, 99, 13] {
            #expect(FailureStage(errorNumber: number, during: .connecting) == .neverSent)
        }
        for number: Int32 in [111, 104, 32, 110, 101, 113, 112] {
            #expect(FailureStage(errorNumber: number, during: .exchanging) == .mayHaveBeenProcessed)
        }
        #expect(FailureStage(errorNumber: 13, during: .exchanging) == nil)
        #expect(FailureStage(errorNumber: 2, during: .connecting) == nil)
    }

    @Test func `Retry-After is parsed in seconds and as a date`() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let time: Int64 = 784_111_777
        #expect(RetryAfter.wait("120", now: time) == .seconds(120))
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(RetryAfter.wait(date, now: time - 30) == .seconds(30))
            #expect(RetryAfter.wait(date, now: time + 30) == .zero)
        }
        for (text, wait) in [
            ("1.5", 1500), ("0.0301", 31), ("3.000000000000000000000", 3000), ("2.", nil), (".5", nil), ("1.5.1", nil),
        ]
            as [(String, Int?)]
        {
            #expect(RetryAfter.wait(text, now: time) == wait.map { .milliseconds($0) })
        }
        for text in ["", "-1", "soon", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "GMT"] {
            #expect(RetryAfter.wait(text, now: time) == nil)
        }
        #expect(RetryAfter.wait("99999999999999999999", now: time) ?? .zero > .seconds(86400))
        #expect(RetryAfter.wait("Thu, 29 Feb 2024 00:00:00 GMT", now: 1_709_164_800 - 1) == .seconds(1))
    }

    @Test func `a policy rejects invalid settings`() throws {
        #expect(throws: RetryPolicyError.neverEnds) { try RetryPolicy(deadline: nil) }
        _ = try RetryPolicy(deadline: nil, attempts: 1)
        for deadline in [Duration.zero, .seconds(-1)] {
            #expect(throws: RetryPolicyError.self) { try RetryPolicy(deadline: deadline) }
        }
        #expect(throws: RetryPolicyError.self) { try RetryPolicy(attempts: 0) }
        #expect(throws: RetryPolicyError.self) { try RetryPolicy(retryAfterCap: .seconds(-1)) }
        #expect(throws: RetryPolicyError.self) { try Backoff(base: .seconds(-1)) }
        #expect(throws: RetryPolicyError.self) { try Backoff(factor: 0.5) }
        #expect(throws: RetryPolicyError.self) { try Backoff(factor: .nan) }
        #expect(throws: RetryPolicyError.self) { try RetryLimits(rate: 0) }
        #expect(throws: RetryPolicyError.self) { try RetryBudget(capacity: -1) }
    }

    @Test func `a target rejects a text that is not a host`() throws {
        for text in ["https://example.org", "example.org:443", "[2001:db8::1]", "a b", ""] {
            #expect(throws: RetryTargetError.invalidHost(text)) { try RetryTarget(host: text, method: .get) }
        }
        let error = #expect(throws: RetryTargetError.zoneRequired("fe80::1")) {
            try RetryTarget(host: "FE80::1", isRepeatable: true)
        }
        #expect(error?.description.contains("fe80::1%eth0") == true)
        #expect(try RetryTarget(host: "FE80::1%eth0", isRepeatable: true).host == "fe80::1%eth0")
    }

    @Test func `the maximum waits of the backoff match its table`() throws {
        let waits = (1...9).map { Backoff.standard.longestWait(beforeRetry: $0) }
        #expect(waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(Backoff.standard.longestWait(beforeRetry: .max) == .seconds(60))
        #expect(try Backoff(base: .zero).longestWait(beforeRetry: .max) == .zero)
    }
}
