// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "TokenRefresh",
    dependencies: [
        // Without traits nothing but swift-log is fetched.
        .package(name: "network-reachability", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "TokenRefresh",
            dependencies: [.product(name: "ReachabilityRetry", package: "network-reachability")],
            swiftSettings: strict
        ),
        .testTarget(name: "TokenRefreshTests", dependencies: ["TokenRefresh"], swiftSettings: strict),
    ]
)
