import FoundationEssentials
import Testing

@testable import ReachabilityRequests

/// Validations and serializers with the expectations of Alamofire's tests, one row for each answer.
struct AnswerRows {
    private static func head(_ status: Int, _ type: String?) -> HTTPURLResponse {
        HTTPURLResponse(text: "http://h/", statusCode: status, headers: type.map { ["Content-Type": $0] } ?? [:])
    }

    private static func refusal(_ head: HTTPURLResponse, _ add: (inout Validator) -> Void) -> AFError? {
        var validator = Validator()
        add(&validator)
        return validator.refusal(URLRequest(text: "http://h/"), head, Data("x".utf8))
    }

    @Test(arguments: [
        (200..<300, 200, true), (200..<300, 299, true), (200..<300, 300, false), (200..<300, 199, false),
        (200..<201, 200, true), (200..<201, 201, false), (400..<500, 404, true), (404..<405, 404, true),
        (100..<600, 599, true), (0..<0, 200, false), (500..<600, 200, false), (300..<400, 304, true),
    ])
    func `validate accepts the specified statuses`(wanted: Range<Int>, status: Int, isAccepted: Bool) {
        let refusal = Self.refusal(Self.head(status, nil)) { $0.add(statuses: wanted) }
        #expect(refusal?.responseCode == (isAccepted ? nil : status))
    }

    @Test(
        arguments: [
            (["application/json"], "application/json", true), (["application/json"], "APPLICATION/JSON", true),
            (["application/json"], "application/json;charset=utf-8", true), (["application/json"], "text/json", false),
            (["application/xml", "application/json"], "application/json", true),
            (["application/*"], "application/pdf", true),
            (["application/*"], "text/html", false), (["*/json"], "text/json", true), (["*/json"], "text/xml", false),
            (["*/*"], "x/y", true), (["*/*"], nil, true), (["text/html"], nil, false), ([], "text/html", false),
            ([], nil, false), (["text/*", "image/*"], "image/png", true),
            (["text/html; charset=utf-8"], "text/html", true),
            (["json"], "application/json", false), (["application/json", "*/*"], "what/ever", true),
            (["application/json"], "application/jsonx", false), (["image/svg+xml"], "image/svg+xml", true),
            (["image/svg"], "image/svg+xml", false), (["*"], "text/html", false),
        ] as [([String], String?, Bool)]
    )
    func `validate accepts the specified content types`(wanted: [String], type: String?, isAccepted: Bool) {
        let refusal = Self.refusal(Self.head(200, type)) { $0.add(contentTypes: { _ in wanted }) }
        #expect((refusal == nil) == isAccepted)
        if !isAccepted {
            switch refusal {
            case .responseValidationFailed(.missingContentType(wanted)): #expect(type == nil)
            case .responseValidationFailed(.unacceptableContentType(wanted, let seen)):
                #expect(type?.hasPrefix(seen) == true)
            default: Issue.record("\(String(describing: refusal))")
            }
        }
    }

    /// The results of the serializers for data, text and a number in JSON; `-` for an error.
    @Test(arguments: [
        (200, HTTPMethod.get, "7", "7 7 7"), (200, .get, "x", "x x -"), (200, .get, "", "- - -"),
        (204, .get, "", "  -"),
        (205, .get, "", "  -"), (200, .head, "", "  -"), (204, .get, "7", "7 7 7"), (404, .get, "", "- - -"),
        (404, .get, "7", "7 7 7"), (500, .post, "null", "null null -"), (200, .put, " 7 ", " 7   7  7"),
        (304, .get, "", "- - -"), (201, .post, "", "- - -"), (204, .delete, "", "  -"), (200, .get, "7 8", "7 8 7 8 -"),
        (200, .get, "{", "{ { -"), (200, .get, "\u{feff}7", "\u{feff}7 7 7"),
    ])
    func `each serializer reads or rejects a body`(status: Int, method: HTTPMethod, body: String, texts: String) {
        let request = URLRequest(text: "http://h/", method: method)
        let head = Self.head(status, "text/plain; charset=utf-8")
        let data = Data(body.utf8)
        func read<Serializer: DataResponseSerializerProtocol>(
            _ serializer: Serializer,
            _ text: (Serializer.SerializedObject) -> String
        ) -> String {
            (try? serializer.serialize(request: request, response: head, data: data, error: nil)).map(text) ?? "-"
        }
        let found = [
            read(DataResponseSerializer()) { String(decoding: $0, as: UTF8.self) },
            read(StringResponseSerializer()) { $0 }, read(DecodableResponseSerializer<Int>()) { "\($0)" },
        ]
        #expect(found.joined(separator: " ") == texts)
    }

    @Test(
        arguments: [
            ([200], [], 200, .get, true), ([], [.get], 200, .get, true),
            ([204], [.head], 200, .get, false), ([], [], 204, .get, false), ([404], [], 404, .get, true),
            ([], [.post], 500, .post, true), ([], [], 200, .head, false),
        ] as [(Set<Int>, Set<HTTPMethod>, Int, HTTPMethod, Bool)]
    )
    func `configured statuses and methods permit an empty body`(
        codes: Set<Int>,
        methods: Set<HTTPMethod>,
        status: Int,
        method: HTTPMethod,
        isAllowed: Bool
    ) {
        let request = URLRequest(text: "http://h/", method: method)
        let data = DataResponseSerializer(emptyResponseCodes: codes, emptyRequestMethods: methods)
        let text = StringResponseSerializer(emptyResponseCodes: codes, emptyRequestMethods: methods)
        let value = DecodableResponseSerializer<Empty>(emptyResponseCodes: codes, emptyRequestMethods: methods)
        let head = Self.head(status, nil)
        #expect(((try? data.serialize(request: request, response: head, data: Data(), error: nil)) != nil) == isAllowed)
        #expect(((try? text.serialize(request: request, response: head, data: Data(), error: nil)) != nil) == isAllowed)
        #expect(
            ((try? value.serialize(request: request, response: head, data: Data(), error: nil)) != nil) == isAllowed
        )
    }
}
