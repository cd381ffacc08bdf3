import ServerTrustNIO
import Testing

@testable import ReachabilityChecks

/// The text of a target. Reports, histories, pages and webhooks contain it.
@Suite struct CheckTargetTests {
    @Test(arguments: [
        ("https://example.org/health?key=hush", "https://example.org/health?***"),
        ("HTTP://example.org?key=hush", "HTTP://example.org?***"),
        ("https://example.org/?\u{301}hush", "https://example.org/?***"),
        ("https://[2001:db8::1]:8443/a?b=hush?c=hush", "https://[2001:db8::1]:8443/a?***"),
        ("https://example.org/health", "https://example.org/health"), ("example.org", "example.org"),
    ])
    func `a query is masked`(text: String, shown: String) throws {
        let target = try CheckTarget(text)
        #expect(target.text == shown)
        // The request contains the URL as given.
        if case .web(let url) = target.service { #expect("\(url)".contains("hush") == text.contains("hush")) }
    }

    @Test(arguments: [
        "https://exam ple.org/?key=hush", "https:///?key=hush", "gopher://example.org/?hush", "https://a:x/?hush",
        "https://u:hush@example.org/", "tcp://u:hush@example.org", "u:hush@example.org",
        "https://u:hush@\u{301}example.org/",
    ])
    func `the message about an invalid target masks its query and its user`(text: String) throws {
        let error = #expect(throws: CheckInputError.self) { try CheckTarget(text) }
        #expect(error?.description.contains("hush") == false)
    }
}
