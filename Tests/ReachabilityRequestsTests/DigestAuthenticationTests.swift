import Testing

@testable import ReachabilityRequests

/// A challenge responder as a class, because `#expect` cannot change a variable.
private final class Responder {
    private var responder: ChallengeResponder

    init(user: String, password: String) {
        responder = ChallengeResponder(URLCredential(user: user, password: password, persistence: .none))
    }

    func accept(_ fields: [String]) -> Bool {
        responder.accept(fields.joined(separator: ", "))
    }

    func authorization(method: String, target: String, clientNonce: String = "c") -> String? {
        responder.authorization(method: method, target: target, clientNonce: clientNonce)
    }
}

struct DigestAuthenticationTests {
    private static let rfc7616 = [
        (
            "MD5", "8ca523f5e9506fed4657c9700eebdbec"
        ),
        (
            "SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        ),
    ]

    @Test(arguments: rfc7616)
    func `the field Authorization equals that of the examples of RFC 7616`(algorithm: String, response: String) throws {
        let responder = Responder(user: "Mufasa", password: "Circle of Life")
        #expect(
            responder.accept([
                """
                Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """
            ])
        )
        let value = try #require(
            responder.authorization(
                method: "GET",
                target: "/dir/index.html",
                clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
            )
        )
        #expect(
            value == """
                Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
                uri="/dir/index.html", response="\(response)", algorithm=\(algorithm), \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001, \
                cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
                """
        )
        // The next request with the same nonce has the next count.
        #expect(responder.authorization(method: "GET", target: "/")?.contains("nc=00000002") == true)
    }

    @Test func `without a qop the digest is that of RFC 2069`() throws {
        let responder = Responder(user: "Mufasa", password: "CircleOfLife")
        #expect(responder.accept([#"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#]))
        let value = try #require(responder.authorization(method: "GET", target: "/dir/index.html"))
        #expect(value.contains(#"response="1949323746fe6a43ef61f9606e7febea""#))
        #expect(!value.contains("cnonce") && !value.contains("qop") && !value.contains("algorithm"))
    }

    @Test func `a user name is hashed or encoded as the challenge permits`() throws {
        let hashed = Responder(user: "Jäsøn Doe", password: "secret")
        #expect(hashed.accept([#"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256, userhash=true"#]))
        let value = try #require(hashed.authorization(method: "GET", target: "/"))
        #expect(value.contains("userhash=true") && !value.contains("Doe"))

        let encoded = Responder(user: "Jäsøn Doe", password: "secret")
        #expect(encoded.accept([#"Digest realm="r", nonce="n", qop="auth""#]))
        #expect(
            encoded.authorization(method: "GET", target: "/")?.contains("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe,")
                == true
        )
    }

    @Test func `Digest is preferred to Basic, in the server's order of algorithms`() throws {
        let responder = Responder(user: "u", password: "p")
        #expect(
            responder.accept([
                #"Basic realm="r", Digest realm="r", nonce="n", algorithm=SHA-512-256, qop="auth""#,
                #"Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth", Digest realm="r", nonce="n", qop="auth""#,
            ])
        )
        #expect(responder.authorization(method: "GET", target: "/")?.contains("algorithm=SHA-256") == true)
    }

    @Test func `Basic is used if no other offered scheme is supported`() {
        let responder = Responder(user: "Aladdin", password: "open sesame")
        #expect(responder.authorization(method: "GET", target: "/") == nil)
        #expect(responder.accept([#"Negotiate, Digest realm="r", nonce="n", qop="auth-int", Basic realm="r""#]))
        #expect(responder.authorization(method: "GET", target: "/") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        // The credential was wrong.
        #expect(!responder.accept([#"Basic realm="r""#]))
    }

    @Test func `a second challenge means a wrong credential unless the nonce is stale`() {
        let challenge = #"Digest realm="r", nonce="n", qop="auth""#
        let wrong = Responder(user: "u", password: "p")
        #expect(wrong.accept([challenge]))
        #expect(!wrong.accept([challenge]))

        let stale = Responder(user: "u", password: "p")
        #expect(stale.accept([challenge]))
        #expect(stale.accept([challenge + ", stale=TRUE"]))
        #expect(stale.accept([challenge + ", stale=true"]))
        // The number of answers is limited, because a server may report every nonce as stale.
        #expect(!stale.accept([challenge + ", stale=true"]))

        // After a Digest challenge the password is not sent with Basic.
        let downgraded = Responder(user: "u", password: "p")
        #expect(downgraded.accept([challenge]))
        #expect(!downgraded.accept([#"Basic realm="r""#]))
    }

    @Test(
        arguments: [
            ("", []),
            ("Negotiate YII=", [("negotiate", [:])]),
            ("Basic realm=\"a, b\"", [("basic", ["realm": "a, b"])]),
            ("Basic realm = plain , charset=\"UTF-8\"", [("basic", ["realm": "plain", "charset": "UTF-8"])]),
            (
                "Newauth realm=\"a\\\"b\\\\\", type=1, BASIC realm=\"c\"",
                [
                    ("newauth", ["realm": "a\"b\\", "type": "1"]), ("basic", ["realm": "c"]),
                ]
            ),
            ("Digest nonce=\"open", [("digest", ["nonce": "open"])]),
            (",, Basic realm=a \u{301}x=\"y,z\", n=1", [("basic", ["realm": "a", "n": "1"])]),
            ("=,=\"", []),
        ] as [(String, [(String, [String: String])])]
    )
    func `a field may contain several challenges`(field: String, expected: [(String, [String: String])]) {
        let challenges = OfferedScheme.challenges(in: field)
        #expect(challenges.map(\.scheme) == expected.map(\.0))
        #expect(challenges.map(\.parameters) == expected.map(\.1))
    }
}
