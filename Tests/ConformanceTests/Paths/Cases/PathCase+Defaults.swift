extension PathCase {
    static let defaults = [
        PathCase(
            name: "the default routes are deleted",
            setup: Change.uplink,
            change: Change.defaults(Change.removeRoute),
            undo: Change.defaults(Change.addRoute),
            before: throughFirst,
            after: noRoute
        ),
        PathCase(
            name: "the default routes are replaced",
            setup: Change.twoUplinks,
            change: Change.defaults(Change.replaceRoute, 2),
            undo: Change.defaults(Change.replaceRoute, 1),
            before: throughFirst,
            after: throughSecond
        ),
        PathCase(
            name: "the default routes get another metric",
            setup: Change.uplink,
            change: [
                .route(RouteChange("0.0.0.0/0", via: "10.1.0.1", metric: 50)),
                .route(RouteChange("::/0", via: "fd01::1", metric: 50)),
                .removeRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1")),
                .removeRoute(RouteChange("::/0", via: "fd01::1", metric: 1024)),
            ],
            undo: [
                .route(RouteChange("0.0.0.0/0", via: "10.1.0.1")), .route(RouteChange("::/0", via: "fd01::1")),
                .removeRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1", metric: 50)),
                .removeRoute(RouteChange("::/0", via: "fd01::1", metric: 50)),
            ],
            before: throughFirst,
            after: throughFirst
        ),
        PathCase(
            name: "two halves instead of a default route, and one is deleted",
            setup: Change.cable() + [
                .route(RouteChange("0.0.0.0/1", via: "10.1.0.1")), .route(RouteChange("128.0.0.0/1", via: "10.1.0.1")),
            ],
            change: [.removeRoute(RouteChange("128.0.0.0/1", via: "10.1.0.1"))],
            undo: [.route(RouteChange("128.0.0.0/1", via: "10.1.0.1"))],
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "half of the internet is enough for a host in it",
            host: "93.184.216.34",
            setup: Change.cable() + [.route(RouteChange("0.0.0.0/1", via: "10.1.0.1"))],
            change: [.removeRoute(RouteChange("0.0.0.0/1", via: "10.1.0.1"))],
            undo: [.route(RouteChange("0.0.0.0/1", via: "10.1.0.1"))],
            before: hostThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "all global addresses of IPv6 instead of a default route",
            setup: Change.cable() + [.route(RouteChange("2000::/3", via: "fd01::1"))],
            change: [.removeRoute(RouteChange("2000::/3", via: "fd01::1"))],
            undo: [.route(RouteChange("2000::/3", via: "fd01::1"))],
            before: host6ThroughFirst,
            after: noRoute
        ),
        PathCase(
            name: "a route to elsewhere changes nothing",
            setup: Change.uplink,
            change: [.route(RouteChange("198.51.100.0/24", .blackhole))],
            undo: [.removeRoute(RouteChange("198.51.100.0/24", .blackhole))],
            before: throughFirst,
            after: throughFirst
        ),
    ]
}
