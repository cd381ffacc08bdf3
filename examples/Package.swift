// swift-tools-version: 6.3

import PackageDescription

// All examples are in one package, so that they are built together with their tests. README.md lists the products that each one
// needs.

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// A product of the package that contains these examples.
func library(_ name: String) -> Target.Dependency {
    .product(name: name, package: "network-reachability")
}

extension Target {
    static func example(_ name: String, _ dependencies: Target.Dependency...) -> Target {
        .executableTarget(name: name, dependencies: dependencies, path: name, swiftSettings: strict)
    }
}

let package = Package(
    name: "examples",
    dependencies: [
        .package(name: "network-reachability", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .example("Alamofire4Style", library("NetworkReachability")),
        .example("AsyncStatuses", library("NetworkReachability")),
        .example("WaitForNetwork", library("NetworkReachability")),
        .example("Daemon", library("NetworkReachability"), .product(name: "Logging", package: "swift-log")),
        .example("RetryingClient", library("ReachabilityRequests"), library("ReachabilityRetry")),
        .example("ResumingDownload", library("ReachabilityRequests"), library("ReachabilityRetry")),
        .example(
            "OutageFollower",
            .product(name: "AsyncHTTPClient", package: "async-http-client")
        ),
        .example(
            "PinnedClient",
            library("ReachabilityHTTP"),
            library("ReachabilityRequests"),
            library("ServerTrust"),
            library("ServerTrustAsyncHTTPClient"),
            .product(name: "AsyncHTTPClient", package: "async-http-client")
        ),
        .target(
            name: "TokenRefresh",
            dependencies: [library("ReachabilityRetry")],
            path: "TokenRefresh",
            swiftSettings: strict
        ),
        .testTarget(name: "TokenRefreshTests", dependencies: ["TokenRefresh"], swiftSettings: strict),
    ]
)
