// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "AsyncStatuses",
    dependencies: [
        // Without traits nothing but swift-log is fetched.
        .package(name: "network-reachability", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "AsyncStatuses",
            dependencies: [
                .product(name: "NetworkReachability", package: "network-reachability")
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
