// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "floors",
    dependencies: [
        .package(name: "network-reachability", path: "network-reachability", traits: ["HTTP", "Outbox"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "RequestSide",
            dependencies: [
                .product(name: "ReachabilityRetry", package: "network-reachability"),
                .product(name: "ReachabilityHTTP", package: "network-reachability"),
                .product(name: "ReachabilityURLSession", package: "network-reachability"),
                .product(name: "ReachabilityOutbox", package: "network-reachability"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
