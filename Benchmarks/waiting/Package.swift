// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "waiting",
    dependencies: [
        // Without traits, swift-log is the only dependency.
        .package(name: "network-reachability", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "waiting",
            dependencies: [.product(name: "ReachabilityRetry", package: "network-reachability")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
