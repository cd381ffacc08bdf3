import LinuxSupport
import NIOHTTP1
package import ReachabilityLedger

/// The frame of a page: the head, the navigation, the banner, and the shared drawings.
package struct Layout: Sendable {
    let title: String
    /// The account that determines the icon.
    let account: LedgerAccount
    /// The path of the page's entry in the navigation.
    let place: String
    let main: HTML
    private let places: [(path: String, name: String)]
    /// A Boolean value that indicates whether the page is a wall view: full width, large, and without navigation.
    package var isKiosk = false
    /// The name in the head of a public page; nil for other pages. A public page has no navigation, no stream and no notice.
    var publicName: String?
    private(set) var status = HTTPResponseStatus.ok

    /// - Parameter places: The entries of the navigation.
    package init(
        title: String,
        account: LedgerAccount,
        place: String,
        places: [(path: String, name: String)] = Self.places,
        main: HTML
    ) {
        (self.title, self.account, self.place, self.places, self.main) = (title, account, place, places, main)
    }

    /// Returns a page with the status 404.
    ///
    /// - Parameter list: A link to the known objects.
    package static func missing(
        _ text: String,
        list: HTML,
        places: [(path: String, name: String)] = Self.places
    ) -> Layout {
        let lead: HTML = """
            It may have been removed, or the URL is mistyped. See <a href="/">the current state</a> or \(list).
            """
        let main = PageParts.hero(mark: "unknown", "\(text).", lead: lead)
        var layout = Layout(title: text, account: .unknown, place: "", places: places, main: main)
        layout.status = .notFound
        return layout
    }

    /// Returns the page as an answer.
    ///
    /// - Parameters:
    ///   - root: The relative URL of the root of the server.
    ///   - hasLogin: True for a client that may enter a token.
    ///   - version: The version of the program.
    ///   - notice: A problem of the server that every page shows; nil without one.
    package func answer(
        _ clock: PageClock,
        host: String,
        root: String,
        hasLogin: Bool = false,
        version: String,
        notice: String? = nil
    ) -> WebAnswer {
        let html = html(clock, host: host, hasLogin: hasLogin, version: version, notice: notice)
        var answer = WebAnswer(status, type: "text/html; charset=utf-8", html.linked(from: root)).unstored
        answer.headers += Self.policy
        return answer
    }

    private func html(
        _ clock: PageClock,
        host: String,
        hasLogin: Bool,
        version: String,
        notice: String?
    ) -> HTML {
        let (host, isPublic) = (publicName ?? host, publicName != nil)
        let home = isPublic ? "/status" : "/"
        let worker: HTML? = isPublic ? nil : " data-worker=\"\(Asset.worker.path)\""
        let login: HTML? = hasLogin ? "<a href=\"/login\">Log in</a>" : nil
        let links: HTML = "<a href=\"/help\">Documentation</a><a href=\"/help#bug\">Report a bug</a>\(login)"
        return """
            <!doctype html>
            <html lang="en" data-version="\(Asset.version)" data-now="\(Timestamp(real: clock.now).text)">
            <head><meta charset="utf-8"><title>\(title) – \(host)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
            <link rel="icon" type="image/svg+xml" href="\((account == .up || account == .maintenance ? Asset.goodIcon : Asset.badIcon).path)">
            <link rel="stylesheet" href="\(Asset.style.path)">
            <script src="\(Asset.page.path)"\(worker) defer></script>
            <noscript><meta http-equiv="refresh" content="30"></noscript></head>
            <body class="\(isKiosk ? "wall" : "")"><a class="skip" href="#main">Skip to the content</a>\(Self.drawings)
            <header><a class="host" href="\(home)">\(host)</a><nav aria-label="Pages">\(places.map(link))</nav>\
            <span id="live">as of \(clock.time(clock.now)), times in UTC</span></header>
            <div id="banner" role="alert" hidden></div><p id="say" class="unseen" role="status"></p>
            <main id="main" tabindex="-1"><p class="notice" data-part="notice" role="status">\(isPublic ? "" : notice ?? "")</p>\(main)</main>
            <footer>network-reachability \(isPublic ? "" : version)\(isPublic ? nil : links)</footer>
            </body></html>
            """
    }

    /// The navigation of the service.
    package static let places: [(path: String, name: String)] = [
        ("/", "Overview"), ("/outages", "Incidents"), ("/availability", "Availability"), ("/network", "Network"),
        ("/service", "Service"),
    ]

    /// The header fields that restrict pages to the files of this server and prevent embedding in frames.
    static let policy: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        ),
        // With no-referrer, the forms of pages would have the origin "null".
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// Returns the page about the documentation and bug reports.
    package static func help(places: [(path: String, name: String)] = Self.places) -> Layout {
        let documents = PageParts.facts([
            (
                "This service",
                "<code>man reachability-serve</code>, <code>/usr/share/doc/reachability/service.md</code>"
            ),
            ("Checks", "<code>man reachability-check</code>, <code>/usr/share/doc/reachability/checks.md</code>"),
            ("The API", "<a href=\"/openapi.json\"><code>/openapi.json</code></a>"),
        ])
        let anchors: HTML = """
            <div class="inside"><p>Without checks, the state is that of the route in the kernel. An anchor is a server of yours that proves that \
            the internet works. Add one to the configuration, and reload the service:</p>
            <pre><code>[anchors]
            urls = ["https://status.example.org/204"]

            [[target]]
            name = "internet"
            at-large = true
            checks = ["network"]</code></pre>
            <p>service/checks.md lists all checks of the service, and checks.md shows how to configure an anchor with nginx.</p></div>
            """
        let bug: HTML = """
            <div class="inside"><p>Record the inputs while the fault occurs with <code>reachability record</code>. Send the file with the \
            version at the end of this page and the report of the outage to the maintainer of your package.</p></div>
            """
        let main: HTML = """
            \(PageParts.hero(mark: "up", "Help"))
            \(PageParts.card("documents", "Documentation", documents))
            \(PageParts.card("anchors", "Check more than the route", anchors))
            \(PageParts.card("bug", "Report a bug", bug))
            """
        return Layout(title: "Help", account: .up, place: "/help", places: places, main: main)
    }

    private func link(_ path: String, _ name: String) -> HTML {
        let current: HTML = path == place ? " aria-current=\"page\"" : ""
        return "<a href=\"\(path)\"\(current)>\(name)</a>"
    }

    /// The patterns of bars and the signs of states, as SVG definitions.
    private static let drawings = HTML(stringLiteral: String(decoding: PackageResources.drawings_svg, as: UTF8.self))
}
