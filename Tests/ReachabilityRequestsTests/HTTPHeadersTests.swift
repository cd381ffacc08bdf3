import ReachabilityRequests
import Testing

/// Header fields with the expectations of Alamofire's tests.
struct HTTPHeadersTests {
    @Test func `a name occurs once, with its last value`() {
        let headers: HTTPHeaders = ["a": "1", "B": "2", "A": "3"]
        #expect(headers.map(\.description) == ["A: 3", "B: 2"])
        #expect(HTTPHeaders([HTTPHeader(name: "x", value: "1"), HTTPHeader(name: "X", value: "2")]).count == 1)
    }

    @Test func `header fields are added, updated, removed and sorted regardless of case`() {
        var headers: HTTPHeaders = [.accept("b"), .userAgent("c")]
        headers["ACCEPT"] = "z"
        headers.add(.contentType("text/plain"))
        #expect(
            headers.value(for: "accept") == "z"
                && headers.sorted().map(\.name) == ["ACCEPT", "Content-Type", "User-Agent"]
        )
        headers["accept"] = nil
        headers.remove(name: "user-agent")
        #expect(headers.dictionary == ["Content-Type": "text/plain"])
    }

    @Test(arguments: [
        ("", "", "Og=="), ("a", "b", "YTpi"), ("ab", "c", "YWI6Yw=="),
        ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ])
    func `credentials are encoded as in RFC 7617`(name: String, password: String, text: String) {
        #expect(HTTPHeader.authorization(username: name, password: password).value == "Basic " + text)
    }
}
