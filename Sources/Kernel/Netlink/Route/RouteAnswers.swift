package import LinuxPrimitives

/// What one round of questions brought, each list in the order of its questions.
package struct RouteAnswers: Hashable, Sendable {
    /// The links asked for; nil where there is none.
    package var links: [Link?]
    package var routes: [Result<Route, SystemError>]

    package init(links: [Link?], routes: [Result<Route, SystemError>]) {
        self.links = links
        self.routes = routes
    }
}
