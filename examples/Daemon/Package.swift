// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Daemon",
    dependencies: [
        // Without traits nothing but swift-log is fetched.
        .package(name: "network-reachability", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "Daemon",
            dependencies: [
                .product(name: "NetworkReachability", package: "network-reachability"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
