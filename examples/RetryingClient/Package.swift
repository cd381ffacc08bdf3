// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "RetryingClient",
    dependencies: [
        // With this trait alone async-http-client is fetched, and nothing of the command.
        .package(name: "network-reachability", path: "../..", traits: ["HTTP"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "RetryingClient",
            dependencies: [
                .product(name: "ReachabilityHTTP", package: "network-reachability"),
                .product(name: "ReachabilityRetry", package: "network-reachability"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
