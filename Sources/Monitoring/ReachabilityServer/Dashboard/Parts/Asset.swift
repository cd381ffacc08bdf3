import LinuxSupport
import NIOHTTP1

/// A file that pages use. Its URL contains a hash of its content, so that browsers can cache it forever.
struct Asset: Sendable {
    let path: String
    let type: String
    let body: [UInt8]

    private init(_ name: String, _ ending: String, type: String, _ body: [UInt8]) {
        path = "/assets/\(name)-\(String(body.contentHash, radix: 36)).\(ending)"
        (self.type, self.body) = (type, body)
    }

    /// The style sheet.
    static let style = Asset("style", "css", type: "text/css; charset=utf-8", PackageResources.style_css)
    /// The script of pages. It shows times in the reader's time zone, updates durations, and fetches the page again after each event.
    static let page = Asset("page", "js", type: "text/javascript; charset=utf-8", PackageResources.page_js)
    /// The worker that receives the event stream for all tabs of a browser. Without shared workers, each tab has its own.
    static let worker = Asset("stream", "js", type: "text/javascript; charset=utf-8", PackageResources.stream_js)
    static let goodIcon = Asset("good", "svg", type: "image/svg+xml", icon("#3aa981", "M9 16.6l5 5 9.6-10.4"))
    static let badIcon = Asset("bad", "svg", type: "image/svg+xml", icon("#c4203a", "M16 8v10M16 23.4v.4"))

    static let all = [style, page, worker, goodIcon, badIcon]

    /// The identifier of the current version of all files. An open page with another version is reloaded.
    static let version = all.map { $0.path.split(at: "-").last.map { String($0.prefix(6)) } ?? "" }.joined()

    /// Answers with a file.
    static func answer(_ name: String, _ request: WebRequest) throws(Problem) -> WebAnswer {
        guard let asset = all.first(where: { $0.path == "/assets/\(name)" }) else {
            throw Problem(
                .notFound,
                "there is no file \"\(name.printable)\"; reload the page, which may be of another version"
            )
        }
        var answer = WebAnswer(type: asset.type, asset.body)
        answer.headers.append(("Cache-Control", "public, max-age=31536000, immutable"))
        answer.headers += Layout.policy
        return answer.tagged(for: request)
    }

    private static func icon(_ colour: String, _ path: String) -> [UInt8] {
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="\(colour)"/>\
            <path d="\(path)" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>
            """
        return Array(text.utf8)
    }
}
