import Testing

@testable import ReachabilityRequests

/// Validation and media types with the expectations of Alamofire's tests.
struct ValidationTests {
    private static func head(_ status: Int = 200, _ type: String? = nil, length: String? = nil) -> HTTPURLResponse {
        var headers = HTTPHeaders()
        headers["Content-Type"] = type
        headers["Content-Length"] = length
        return HTTPURLResponse(text: "http://h/", statusCode: status, headers: headers)
    }

    @Test(arguments: [
        ("*/*", "text/plain", true), ("text/*", "text/plain", true), ("text/plain", "text/plain; charset=utf-8", true),
        ("TEXT/PLAIN", "text/plain", true),
        ("*/plain", "text/plain", true), ("text/html", "text/plain", false), ("image/*", "text/plain", false),
        ("*/json", "text/plain", false),
        ("application/json", "application/problem+json", false), ("text/plain;q=0.5", "text/plain", true),
        ("damaged", "text/plain", false),
        ("*/*", "damaged", true), ("text/plain", "damaged", false), ("*/*", "", true), ("text/plain", "", false),
    ])
    func `a content type matches the acceptable types`(wanted: String, type: String, isIn: Bool) {
        #expect((Validator.refusal(of: Self.head(200, type), wanted: [wanted]) == nil) == isIn)
    }

    @Test(
        arguments: [
            ("text/plain", "text", "plain", [:]),
            (" Text/Plain ; Charset=UTF-8", "text", "plain", ["charset": "UTF-8"]),
            ("a/b;c=\"d; e\\\"\";f=g", "a", "b", ["c": "d; e\"", "f": "g"]), ("a/b; c", "a", "b", [:]),
            ("a/b;;c=d;", "a", "b", ["c": "d"]),
            ("a/b;c=1;c=2", "a", "b", ["c": "1"]), ("application/vnd.api+json", "application", "vnd.api+json", [:]),
        ] as [(String, String, String, [String: String])]
    )
    func `media types are parsed`(text: String, type: String, subtype: String, parameters: [String: String]) {
        let read = MIMEType(text)
        #expect(read?.type == type && read?.subtype == subtype && read?.parameters == parameters)
    }

    @Test(arguments: ["", "a", "a/", "/b", "a b/c", "ä/b", "\u{0}/b", "/"])
    func `an invalid media type is nil`(text: String) {
        #expect(MIMEType(text) == nil)
    }

    @Test(
        arguments: [
            (200, "", "0", nil), (204, nil, nil, nil), (299, "a/b", nil, nil), (404, nil, nil, 404),
            (199, nil, nil, 199), (300, nil, nil, 300), (500, "a/b", nil, 500),
        ] as [(Int, String?, String?, Int?)]
    )
    func `the default validation accepts statuses from 200 to 299`(
        status: Int,
        type: String?,
        length: String?,
        refused: Int?
    ) {
        var validator = Validator()
        validator.addUsual()
        #expect(
            validator.refusal(.init(text: "http://h/"), Self.head(status, type, length: length), nil)?.responseCode
                == refused
        )
    }

    @Test func `the default validation accepts the content types of the field Accept`() {
        var validator = Validator()
        validator.addUsual()
        let request = URLRequest(text: "http://h/", headers: [.accept("application/json, text/*;q=0.5")])
        #expect(validator.refusal(request, Self.head(200, "text/html"), nil) == nil)
        #expect(validator.refusal(request, Self.head(200, "image/png"), nil)?.isResponseValidationError == true)
        #expect(validator.refusal(request, Self.head(200, nil), nil)?.isResponseValidationError == true)
        // An empty body needs no content type.
        #expect(validator.refusal(request, Self.head(200, nil), .init()) == nil)
        #expect(validator.refusal(request, Self.head(200, nil, length: "0"), nil) == nil)
    }

    @Test func `the acceptable content types of an error are sorted`() {
        for type in ["c/d", nil] {
            var validator = Validator()
            validator.add(contentTypes: { _ in ["b/x", "a/x"] })
            let refusal = validator.refusal(URLRequest(text: "http://h/"), Self.head(200, type), nil)
            switch refusal {
            case .responseValidationFailed(.missingContentType(let types))?,
                .responseValidationFailed(.unacceptableContentType(let types, _))?:
                #expect(types == ["a/x", "b/x"])
            default: Issue.record("\(String(describing: refusal))")
            }
        }
    }

    @Test func `the first rejection counts, and the error of a closure is kept`() {
        var validator = Validator()
        validator.add(statuses: [200])
        validator.add { _, _, _ in .failure(CancellationError()) }
        let request = URLRequest(text: "http://h/")
        #expect(validator.refusal(request, Self.head(404), nil)?.responseCode == 404)
        #expect(validator.refusal(request, Self.head(200), nil)?.underlyingError is CancellationError)
    }

    @Test func `a rejected HTML page is reported as a possible captive portal`() {
        let refusal = Validator.refusal(of: Self.head(200, "text/html"), wanted: ["application/json"])
        let error = refusal.map { AFError.responseValidationFailed(reason: $0) }
        #expect(
            error?.description.contains("text/html") == true && error?.description.contains("captive portal") == true
        )
    }

    @Test(
        arguments: [
            ("5", 5), ("0", 0), ("5, 5", 5), ("5, 6", nil), ("-1", nil), ("+5", nil), ("", nil),
            ("99999999999999999999", nil), ("5x", nil), ("0x5", nil),
        ] as [(String, Int64?)]
    )
    func `Content-Length is parsed strictly`(text: String, length: Int64?) {
        #expect(Self.head(200, nil, length: text).contentLength == length)
        #expect(Self.head(200, nil, length: text).expectedContentLength == length ?? -1)
    }

    @Test func `the length of a body with a content coding is unknown`() {
        let head = HTTPURLResponse(
            text: "",
            statusCode: 200,
            headers: ["Content-Length": "5", "Content-Encoding": "gzip"]
        )
        #expect(head.contentLength == nil && head.expectedContentLength == -1)
        #expect(
            HTTPURLResponse(
                text: "",
                statusCode: 200,
                headers: ["Content-Length": "5", "Content-Encoding": "identity"]
            )
            .expectedContentLength == 5
        )
    }
}
