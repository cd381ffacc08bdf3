// swift-tools-version: 6.3

import PackageDescription

/// What every target of ours is compiled with.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Not in `Netlink`: a structure of libc that both Glibc and CNetlink declare belongs to the one the compiler happens to read
/// first, so which import its members need would change from build to build.
let visible: [SwiftSetting] = [.enableUpcomingFeature("MemberImportVisibility")]

/// Everywhere but in `Netlink`, the one room where unsafe code lives.
let safe = strict + visible + [.strictMemorySafety()]

/// Only with the trait of this name.
let metrics = Target.Dependency.product(
    name: "CoreMetrics",
    package: "swift-metrics",
    condition: .when(traits: ["Metrics"])
)

/// Only with the trait of this name.
let database = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Outbox"]))

/// Only with the trait of this name: what reads arguments, and starts programs.
let commandLine: [Target.Dependency] = [
    .product(
        name: "ArgumentParser",
        package: "swift-argument-parser",
        condition: .when(traits: ["CommandLineTool"])
    ),
    .product(name: "Subprocess", package: "swift-subprocess", condition: .when(traits: ["CommandLineTool"])),
    .product(name: "SystemPackage", package: "swift-system", condition: .when(traits: ["CommandLineTool"])),
]
/// Only with the trait HTTP.
let asyncHTTPClient = Target.Dependency.product(
    name: "AsyncHTTPClient",
    package: "async-http-client",
    condition: .when(traits: ["HTTP"])
)

/// Only with the trait HTTP; what async-http-client is built on, in the versions it asks for.
let nio: [Target.Dependency] = ["NIOCore", "NIOPosix", "NIOHTTP1"].map {
    .product(name: $0, package: "swift-nio", condition: .when(traits: ["HTTP"]))
}
let nioTLS = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["HTTP"]))
let nioHTTP2 = Target.Dependency.product(
    name: "NIOHTTP2",
    package: "swift-nio-http2",
    condition: .when(traits: ["HTTP"])
)

/// Only with the trait `ServerTrust`.
func trust(_ product: String, of package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["ServerTrust"]))
}

/// X.509, its encoding, and the algorithms below.
let certificates = [
    trust("X509", of: "swift-certificates"),
    trust("SwiftASN1", of: "swift-asn1"),
    trust("Crypto", of: "swift-crypto"),
    trust("CryptoExtras", of: "swift-crypto"),
]

/// What its clients speak TLS with.
let trustNIO =
    ["NIOCore", "NIOPosix", "NIOTLS"].map { trust($0, of: "swift-nio") } + [trust("NIOSSL", of: "swift-nio-ssl")]

let package = Package(
    name: "network-reachability",
    products: [
        .library(name: "NetworkReachability", targets: ["NetworkReachability"]),
        .library(name: "NetworkReachabilityTesting", targets: ["NetworkReachabilityTesting"]),
        .library(name: "NetworkReachabilityMetrics", targets: ["NetworkReachabilityMetrics"]),
        .library(name: "ReachabilityRetry", targets: ["ReachabilityRetry"]),
        .library(name: "ReachabilityOutbox", targets: ["ReachabilityOutbox"]),
        .library(name: "ReachabilityHTTP", targets: ["ReachabilityHTTP"]),
        .library(name: "ReachabilityURLSession", targets: ["ReachabilityURLSession"]),
        .library(name: "ServerTrust", targets: ["ServerTrust"]),
        .library(name: "ServerTrustNIO", targets: ["ServerTrustNIO"]),
        .library(name: "ServerTrustHTTP", targets: ["ServerTrustHTTP"]),
        .library(name: "ServerTrustAsyncHTTPClient", targets: ["ServerTrustAsyncHTTPClient"]),
        .executable(name: "reachability", targets: ["reachability"]),
        .executable(name: "reachability-outbox", targets: ["reachability-outbox"]),
        .executable(name: "reachability-trust", targets: ["reachability-trust"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "The `reachability` command; needs swift-argument-parser and swift-subprocess."
        ),
        .trait(name: "Metrics", description: "The product NetworkReachabilityMetrics; needs swift-metrics."),
        .trait(name: "Outbox", description: "The product ReachabilityOutbox; needs GRDB and SQLite."),
        .trait(name: "HTTP", description: "The product ReachabilityHTTP; needs async-http-client and swift-nio."),
        .trait(
            name: "ServerTrust",
            description:
                "ServerTrust and its clients; needs swift-certificates, swift-asn1, swift-crypto and swift-nio."
        ),
        .default(enabledTraits: ["CommandLineTool", "Metrics", "Outbox", "HTTP", "ServerTrust"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        // Without its trait SubprocessFoundation, which brings Foundation.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
        // Paths and error numbers, in which swift-subprocess speaks.
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CNetlink",
            pkgConfig: "libnl-route-3.0",
            providers: [.apt(["libnl-3-dev", "libnl-route-3-dev", "pkg-config"])]
        ),
        .target(name: "Netlink", dependencies: ["CNetlink"], swiftSettings: strict),
        .target(
            name: "NetworkReachability",
            dependencies: ["Netlink", .product(name: "Logging", package: "swift-log")],
            swiftSettings: safe
        ),
        .target(
            name: "NetworkReachabilityTesting",
            dependencies: ["NetworkReachability", "Netlink"],
            swiftSettings: safe
        ),
        .target(
            name: "NetworkReachabilityMetrics",
            dependencies: ["NetworkReachability", "Netlink", metrics],
            swiftSettings: safe
        ),
        .target(
            name: "ReachabilityRecording",
            dependencies: ["NetworkReachability", "Netlink"],
            swiftSettings: safe
        ),
        .target(name: "ReachabilityRetry", dependencies: ["NetworkReachability", "Netlink"], swiftSettings: safe),
        .target(
            name: "ServerTrust",
            dependencies: ["Netlink", .product(name: "Logging", package: "swift-log")] + certificates,
            swiftSettings: safe
        ),
        .target(
            name: "ServerTrustNIO",
            dependencies: ["ServerTrust", "Netlink", .product(name: "Logging", package: "swift-log")] + trustNIO,
            swiftSettings: safe
        ),
        .target(
            name: "ServerTrustHTTP",
            dependencies: ["ServerTrust", "ServerTrustNIO", "Netlink", trust("NIOHTTP1", of: "swift-nio")] + trustNIO,
            swiftSettings: safe
        ),
        .target(
            name: "ReachabilityHTTP",
            dependencies: ["ReachabilityRetry", "NetworkReachability", "Netlink", asyncHTTPClient, nioTLS, nioHTTP2]
                + nio,
            swiftSettings: safe
        ),
        // With the traits HTTP and ServerTrust.
        .target(
            name: "ServerTrustAsyncHTTPClient",
            dependencies: [
                "ServerTrust", "Netlink", .product(name: "Logging", package: "swift-log"), asyncHTTPClient, nioTLS,
                nioHTTP2,
            ] + nio,
            swiftSettings: safe
        ),
        // Without a trait: FoundationNetworking comes with the toolchain, and nothing is fetched for it.
        .target(
            name: "ReachabilityURLSession",
            dependencies: ["ReachabilityRetry", "NetworkReachability", "Netlink"],
            swiftSettings: safe
        ),
        .target(
            name: "ReachabilityOutbox",
            dependencies: [
                "NetworkReachability", "ReachabilityRetry", "Netlink", database,
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: safe
        ),
        .target(
            name: "CommandLineSupport",
            dependencies: ["NetworkReachability", "Netlink"] + commandLine,
            swiftSettings: safe
        ),
        .executableTarget(
            name: "reachability",
            dependencies: [
                "CommandLineSupport", "NetworkReachability", "ReachabilityRecording", "ReachabilityRetry",
                "Netlink",
                .product(name: "Logging", package: "swift-log"),
            ] + commandLine,
            swiftSettings: safe
        ),
        .executableTarget(
            name: "reachability-outbox",
            dependencies: ["CommandLineSupport", "ReachabilityOutbox", "ReachabilityRetry", "Netlink"] + commandLine,
            swiftSettings: safe
        ),
        .executableTarget(
            name: "reachability-trust",
            dependencies: [
                "CommandLineSupport", "NetworkReachability", "ServerTrust", "ServerTrustNIO", "ServerTrustHTTP",
                "Netlink",
                .product(name: "Logging", package: "swift-log"),
            ] + commandLine + trustNIO + [trust("X509", of: "swift-certificates")],
            swiftSettings: safe
        ),
        .target(name: "CNetworkLab", path: "Tests/CNetworkLab"),
        .target(
            name: "NetworkLab",
            dependencies: ["CNetworkLab", "Netlink"],
            path: "Tests/NetworkLab",
            swiftSettings: strict
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "NetlinkTests",
            dependencies: ["Netlink", "NetworkLab", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetworkReachabilityTests",
            dependencies: [
                "NetworkReachability", "NetworkReachabilityTesting", "Netlink", "NetworkLab", "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetworkReachabilityMetricsTests",
            dependencies: [
                "NetworkReachability", "NetworkReachabilityMetrics", "NetworkReachabilityTesting", "Netlink", metrics,
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "OutboxVictim",
            dependencies: ["ReachabilityOutbox", "ReachabilityRetry"],
            path: "Tests/OutboxVictim",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ReachabilityOutboxTests",
            dependencies: [
                "ReachabilityOutbox", "ReachabilityRetry", "Netlink", "NetworkLab", "TestSupport", "OutboxVictim",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "RecordingTests",
            dependencies: ["ReachabilityRecording", "NetworkReachability", "Netlink", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ReachabilityRetryTests",
            dependencies: [
                "ReachabilityRetry", "NetworkReachability", "NetworkReachabilityTesting", "Netlink", "NetworkLab",
                "TestSupport",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ReadmeClient",
            dependencies: ["ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityRetry", asyncHTTPClient],
            path: "Tests/ReadmeClient",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ReachabilityHTTPTests",
            dependencies: [
                "ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityRetry", "NetworkReachability",
                "NetworkReachabilityTesting", "Netlink", "NetworkLab", "TestSupport", "ReadmeClient", asyncHTTPClient,
                nioTLS, nioHTTP2,
            ] + nio,
            swiftSettings: strict
        ),
        .target(
            name: "TrustForge",
            dependencies: ["ServerTrust", "TestSupport"] + certificates,
            path: "Tests/TrustForge",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServerTrustTests",
            dependencies: [
                "ServerTrust", "TrustForge", "Netlink", "NetworkLab", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]
                + certificates,
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServerTrustHTTPTests",
            dependencies: [
                "ServerTrustHTTP", "ServerTrustNIO", "ServerTrust", "TrustForge", "Netlink", "NetworkLab",
                "TestSupport", trust("NIOHTTP1", of: "swift-nio"), trust("NIOEmbedded", of: "swift-nio"),
            ]
                + trustNIO + certificates,
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServerTrustNIOTests",
            dependencies: [
                "ServerTrustNIO", "ServerTrustHTTP", "ServerTrust", "TrustForge", "Netlink", "NetworkLab",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]
                + trustNIO + certificates,
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServerTrustAsyncHTTPClientTests",
            dependencies: [
                "ServerTrustAsyncHTTPClient", "ServerTrust", "TrustForge", "Netlink", "TestSupport", asyncHTTPClient,
                nioTLS, nioHTTP2,
            ] + nio + certificates,
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "NetworkReachability", "NetworkReachabilityTesting", "Netlink", "NetworkLab",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ScenarioTests",
            dependencies: ["Netlink", "NetworkLab", "TestSupport", "reachability"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EmbeddingProgram",
            dependencies: ["NetworkReachability"],
            path: "Tests/EmbeddingProgram",
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "CommandLineSupport", "NetworkLab", "TestSupport", "TrustForge", "ServerTrust", "reachability",
                "reachability-outbox", "reachability-trust", "EmbeddingProgram",
            ] + certificates,
            exclude: ["Help"],
            swiftSettings: strict
        ),
    ]
)

// What Scripts/mutate and Scripts/fuzz run; nobody else builds it.
if Context.environment["FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "TrustFuzzer",
            dependencies: ["ServerTrust", "TrustForge", "TestSupport"] + certificates,
            path: "Tests/TrustFuzzer",
            swiftSettings: strict
        )
    )
}

// What Benchmarks/run measures beside OpenSSL; nobody else builds it.
if Context.environment["BENCHMARKS"] != nil {
    package.targets.append(
        .executableTarget(
            name: "TrustBenchmark",
            dependencies: ["ServerTrust", "TrustForge"],
            path: "Benchmarks/trust",
            swiftSettings: strict
        )
    )
}

// For builds that need not see the C libraries of TLS, which take longer than all the rest (Scripts/sanitize).
if Context.environment["WITHOUT_TLS"] != nil {
    let names = [
        "ReachabilityHTTP", "ReachabilityHTTPTests", "ReadmeClient", "ServerTrust", "ServerTrustNIO", "TrustForge",
        "ServerTrustTests", "ServerTrustNIOTests", "ServerTrustHTTP", "ServerTrustHTTPTests",
        "ServerTrustAsyncHTTPClient", "ServerTrustAsyncHTTPClientTests", "reachability-trust", "CommandTests",
    ]
    package.targets.removeAll { names.contains($0.name) }
    package.products.removeAll { names.contains($0.name) }
}
