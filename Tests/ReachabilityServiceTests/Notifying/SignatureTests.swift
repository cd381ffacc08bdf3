import Testing

@testable import ReachabilityService

/// The signatures of webhooks.
@Suite struct SignatureTests {
    @Test func `the signature matches the example of the standard`() throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let signature = try #require(WebhookSignature(secret: Array(secret.utf8)))
        let headers = signature.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(headers.map(\.name) == ["webhook-signature"])
        #expect(headers.first?.value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `a secret that is too short or not base64 is rejected`() {
        #expect(WebhookSignature(secret: Array("short".utf8)) == nil)
        #expect(WebhookSignature(secret: Array("whsec_???".utf8)) == nil)
        #expect(WebhookSignature(secret: Array("sixteen bytes or".utf8)) != nil)
    }
}
