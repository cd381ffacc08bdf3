// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "PinnedClient",
    dependencies: [
        .package(name: "network-reachability", path: "../..", traits: ["HTTP", "ServerTrust"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "PinnedClient",
            dependencies: [
                .product(name: "ServerTrust", package: "network-reachability"),
                .product(name: "ServerTrustAsyncHTTPClient", package: "network-reachability"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
