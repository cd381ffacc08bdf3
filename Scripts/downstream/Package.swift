// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "downstream",
    dependencies: [.package(name: "network-reachability", path: "network-reachability", traits: [])],
    targets: [
        .executableTarget(
            name: "Downstream",
            dependencies: [.product(name: "NetworkReachability", package: "network-reachability")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .target(
            name: "DownstreamRetry",
            dependencies: [.product(name: "ReachabilityRetry", package: "network-reachability")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .target(
            name: "DownstreamURLSession",
            dependencies: [.product(name: "ReachabilityURLSession", package: "network-reachability")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .target(
            name: "DownstreamSwift5",
            dependencies: [.product(name: "NetworkReachability", package: "network-reachability")],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
        ),
    ]
)
