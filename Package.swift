// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The settings above the modules with unsafe code. Glibc and CLinux declare the same structures, and the compiler assigns each to the
/// module that it reads first. With member import visibility, the imports that these modules need would change from build to build.
let safe = strict + [.enableUpcomingFeature("MemberImportVisibility"), .strictMemorySafety()]

/// Products of another package, used if a trait is enabled.
func products(_ names: String..., from package: String, with trait: String = "Clients") -> [Target.Dependency] {
    names.map { .product(name: $0, package: package, condition: .when(traits: [trait])) }
}

let logging: [Target.Dependency] = [.product(name: "Logging", package: "swift-log")]
let metrics = products("CoreMetrics", from: "swift-metrics")
let lifecycle = products("ServiceLifecycle", from: "swift-service-lifecycle")
let tracing = products("Instrumentation", "Tracing", from: "swift-distributed-tracing")
let crypto = products("Crypto", "CryptoExtras", from: "swift-crypto")
let certificates = products("X509", from: "swift-certificates") + products("SwiftASN1", from: "swift-asn1") + crypto
let nio =
    products("NIOCore", "NIOPosix", "NIOHTTP1", "NIOTLS", from: "swift-nio") + products("NIOSSL", from: "swift-nio-ssl")
let asyncHTTPClient =
    logging + nio + products("AsyncHTTPClient", from: "async-http-client")
    + products("NIOHTTP2", from: "swift-nio-http2")
let mosquitto: [Target.Dependency] = [.target(name: "CMosquitto", condition: .when(traits: ["Fleet"]))]
let embeddedNIO = products("NIOEmbedded", from: "swift-nio")
let webServer = nio + certificates + embeddedNIO
let inMemoryTracing = products("InMemoryTracing", from: "swift-distributed-tracing")
let database = products("GRDB", from: "GRDB.swift")
let commandLine =
    products("ArgumentParser", from: "swift-argument-parser", with: "Programs")
    + products("Subprocess", from: "swift-subprocess", with: "Programs")
    + products("SystemPackage", from: "swift-system", with: "Programs")

let core = ["NetworkReachability", "Netlink", "LinuxSupport"]
let retry = ["ReachabilityRetry", "LinuxSupport"]
let trust = ["ServerTrustNIO", "ServerTrust"]
let service = ["ReachabilityService", "ReachabilityLedger"]
let fleet = ["ReachabilityFleet", "MQTT"]

extension Target {
    /// A module with the name of its folder. It uses modules of the folders above it in this file.
    static func module(
        _ path: String,
        _ modules: [String],
        _ products: [Dependency] = [],
        resources: [Resource] = [],
        settings: [SwiftSetting] = safe
    ) -> Target {
        let dependencies = modules.map(Dependency.init(stringLiteral:)) + products
        let name = String(path.split(separator: "/").last ?? "")
        return .target(
            name: name,
            dependencies: dependencies,
            path: path,
            resources: resources,
            swiftSettings: settings
        )
    }

    /// A program, by default of the tests.
    static func program(
        _ name: String,
        at path: String? = nil,
        _ modules: [String],
        _ products: [Dependency] = [],
        settings: [SwiftSetting] = strict
    ) -> Target {
        let (uses, path) = (modules.map(Dependency.init(stringLiteral:)) + products, path ?? "Tests/\(name)")
        return .executableTarget(name: name, dependencies: uses, path: path, swiftSettings: settings)
    }

    /// A module with the name of its folder, for tests. It may use LinuxSupport.
    static func support(_ name: String, _ modules: [String], _ products: [Dependency] = []) -> Target {
        module("Tests/\(name)", modules + ["LinuxSupport"], products, settings: strict)
    }

    /// Tests, with the modules that all tests may use.
    static func tests(
        _ name: String,
        _ modules: [String],
        _ products: [Dependency] = [],
        exclude: [String] = []
    ) -> Target {
        let modules = modules + core + ["KernelLab", "NetworkReachabilityTesting", "NetworkLab", "TestSupport"]
        let dependencies = modules.map(Dependency.init(stringLiteral:)) + products
        return .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
    }
}

let libraries = [
    "NetworkReachability", "NetworkDiagnostics", "NetworkReachabilityTesting",
    "ServerTrust", "ServerTrustNIO", "ServerTrustAsyncHTTPClient",
    "ReachabilityRetry", "ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityRequests", "ReachabilityAlamofire",
    "ReachabilityAlamofire4", "ReachabilityOutbox", "ReachabilityObservability", "ReachabilityChecks",
]
let programs = ["reachability", "reachability-tools", "reachability-fleet"]

let package = Package(
    name: "network-reachability",
    products: libraries.map { .library(name: $0, targets: [$0]) }
        + programs.map { .executable(name: $0, targets: [$0]) },
    traits: [
        .trait(name: "Clients", description: "Server trust, HTTP requests with retries, the outbox and active checks."),
        .trait(name: "Programs", description: "The command and the monitoring service.", enabledTraits: ["Clients"]),
        .trait(name: "Fleet", description: "Agent and hub; needs libmosquitto.", enabledTraits: ["Programs"]),
        .default(enabledTraits: ["Clients", "Programs"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        // Without its trait SubprocessFoundation, which adds Foundation.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
        // The types of paths and error numbers in the API of swift-subprocess.
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
        .module("Sources/System/Formats", []),
        .module("Sources/System/LinuxSupport", ["Formats", "CLinux"], settings: strict),
        .systemLibrary(name: "CZlib", path: "Sources/System/CZlib", providers: [.apt(["zlib1g-dev"])]),
        .module("Sources/System/Compression", ["CZlib"], settings: strict),
        .systemLibrary(name: "CSystemd", path: "Sources/System/CSystemd"),
        .module("Sources/System/SystemBus", ["LinuxSupport", "CSystemd"], settings: strict),

        .systemLibrary(
            name: "CNetlink",
            path: "Sources/Netlink/CNetlink",
            pkgConfig: "libnl-route-3.0",
            providers: [.apt(["libnl-3-dev", "libnl-route-3-dev", "pkg-config"])]
        ),
        .module("Sources/Netlink/Netlink", ["LinuxSupport", "CNetlink", "CLinux"], settings: strict),

        .module("Sources/Core/NetworkReachability", ["Netlink", "LinuxSupport"], logging),
        .module("Sources/Core/NetworkDiagnostics", core, logging),
        .module("Sources/Core/NetworkReachabilityTesting", core),

        .module("Sources/Clients/ServerTrust", ["LinuxSupport"], logging + certificates),
        .module("Sources/Clients/ServerTrustNIO", ["ServerTrust", "LinuxSupport"], logging + nio),
        .module("Sources/Clients/ServerTrustAsyncHTTPClient", trust + ["LinuxSupport"], asyncHTTPClient),
        .module("Sources/Clients/ReachabilityRetry", core, logging),
        .module("Sources/Clients/ReachabilityHTTP", retry, asyncHTTPClient + tracing),
        .module("Sources/Clients/ReachabilityURLSession", retry),
        .module(
            "Sources/Clients/ReachabilityRequests",
            ["ReachabilityHTTP", "ServerTrustAsyncHTTPClient"] + trust + retry,
            asyncHTTPClient + crypto
        ),
        // ReachabilityAlamofire exports Foundation's names from a module of their own, by scoped imports.
        .module("Sources/Clients/AlamofireFoundationNames", ["ReachabilityRequests"]),
        .module(
            "Sources/Clients/ReachabilityAlamofire",
            ["AlamofireFoundationNames", "ReachabilityRequests", "ReachabilityRetry", "ServerTrust"] + core
        ),
        .module("Sources/Clients/ReachabilityAlamofire4", ["ReachabilityAlamofire", "ReachabilityRequests"]),
        .module("Sources/Clients/ReachabilityOutbox", ["ReachabilityHTTP"] + retry, asyncHTTPClient + database),
        .module(
            "Sources/Clients/ReachabilityObservability",
            ["ReachabilityRequests", "ReachabilityRetry"] + core,
            metrics + lifecycle + tracing
        ),

        .module("Sources/Monitoring/ReachabilityLedger", []),
        .module("Sources/Monitoring/ReachabilityChecks", ["ReachabilityRetry"] + trust + core, nio + crypto),
        .module(
            "Sources/Monitoring/ReachabilityService",
            ["ReachabilityLedger", "ReachabilityChecks", "ReachabilityRetry", "NetworkDiagnostics"] + trust + core,
            logging + certificates + nio + database + products("TOMLKit", from: "TOMLKit", with: "Programs")
        ),
        .module(
            "Sources/Monitoring/ReachabilityServer",
            service + ["NetworkDiagnostics", "Compression", "SystemBus"] + trust + core,
            logging + certificates + nio,
            resources: [
                "API/common.json", "API/openapi.json", "Dashboard/drawings.svg", "Dashboard/page.js",
                "Dashboard/stream.js", "Dashboard/style.css",
            ].map { .embedInCode($0) }
        ),

        .systemLibrary(
            name: "CMosquitto",
            path: "Sources/Fleet/CMosquitto",
            pkgConfig: "libmosquitto",
            providers: [.apt(["libmosquitto-dev", "pkg-config"])]
        ),
        .module("Sources/Fleet/MQTT", ["LinuxSupport", "CLinux"], mosquitto, settings: strict),
        .module("Sources/Fleet/ReachabilityFleet", ["ReachabilityLedger", "LinuxSupport"]),
        .module("Sources/Fleet/ReachabilityFleetAgent", fleet + ["ServerTrust"] + core, certificates),
        .module(
            "Sources/Fleet/ReachabilityFleetHub",
            fleet + ["ReachabilityServer"] + service + core,
            logging + nio + database,
            resources: [.embedInCode("API/openapi.json")]
        ),

        .module("Sources/Programs/CommandLineSupport", ["NetworkDiagnostics"] + core, commandLine + logging),
        .program(
            "reachability",
            at: "Sources/Programs/reachability",
            ["CommandLineSupport", "ReachabilityRetry", "NetworkDiagnostics"] + core,
            commandLine + logging
        ),
        .program(
            "reachability-tools",
            at: "Sources/Programs/reachability-tools",
            [
                "CommandLineSupport", "ReachabilityServer", "ReachabilityChecks", "ReachabilityOutbox",
                "ReachabilityRequests", "ReachabilityHTTP", "ReachabilityRetry", "NetworkDiagnostics",
            ] + service + trust + core,
            commandLine + certificates + asyncHTTPClient
        ),
        .program(
            "reachability-fleet",
            at: "Sources/Programs/reachability-fleet",
            [
                "CommandLineSupport", "ReachabilityFleetHub", "ReachabilityFleetAgent", "ReachabilityServer",
                "ReachabilityRetry", "ServerTrust",
            ] + fleet + service + core,
            commandLine + nio
        ),

        .target(name: "CNetworkLab", path: "Tests/CNetworkLab"),
        .support("NetworkLab", ["CNetworkLab", "Netlink"]),
        .support("TestSupport", ["ReachabilityRetry"], logging),
        .support("KernelLab", ["NetworkReachabilityTesting", "NetworkReachability", "Netlink"]),
        .support("TrustForge", ["ServerTrust", "TestSupport"], certificates),
        .support("WebLab", ["NetworkLab", "TrustForge", "ServerTrust"], webServer),
        // Code that was written for Alamofire 4, in the language of its time.
        .module("Tests/AlamofireBlocks", ["ReachabilityAlamofire4"], settings: [.swiftLanguageMode(.v5)]),
        .support("BrokerLab", ["MQTT", "NetworkLab"]),
        .support("BusLab", ["NetworkLab"]),
        .support(
            "ServiceLab",
            ["KernelLab", "TestSupport", "NetworkReachability", "NetworkReachabilityTesting"] + service
        ),
        .program("EmbeddingProgram", core),
        .program("OutboxVictim", ["ReachabilityOutbox", "ReachabilityRetry"]),
        .program("HubVictim", ["ReachabilityFleetHub", "LinuxSupport"] + fleet + service),
        .program("TrustFuzzer", ["ServerTrust", "TrustForge", "TestSupport"], certificates),
        .program("ReadmeClient", ["ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityRetry"], asyncHTTPClient),
        .program("TrustBenchmark", at: "Benchmarks/trust", ["ServerTrust", "TrustForge"]),
        .program("RequestBenchmark", at: "Benchmarks/requests", ["ReachabilityRequests"], asyncHTTPClient),
        .program("SocketBenchmark", at: "Benchmarks/sockets", ["LinuxSupport"]),
        .tests("LinuxSupportTests", ["SystemBus", "BusLab"]),
        .tests("NetlinkTests", ["CNetlink", "CLinux"]),
        .tests("NetworkReachabilityTests", ["NetworkDiagnostics", "CNetlink", "CLinux"], logging),
        .tests("NetworkDiagnosticsTests", ["NetworkDiagnostics"]),
        .tests("ConformanceTests", ["NetworkDiagnostics"], logging),
        .tests("ServerTrustTests", ["ServerTrust", "TrustForge", "TrustFuzzer"], logging + certificates),
        .tests("ServerTrustNIOTests", trust + ["TrustForge", "WebLab"], logging + nio + certificates + embeddedNIO),
        .tests(
            "ServerTrustAsyncHTTPClientTests",
            ["ServerTrustAsyncHTTPClient", "ServerTrust", "TrustForge", "WebLab"],
            asyncHTTPClient + certificates
        ),
        .tests("ReachabilityRetryTests", ["ReachabilityRetry"]),
        .tests(
            "ReachabilityHTTPTests",
            [
                "ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityOutbox", "ReachabilityRetry", "WebLab",
                "ReadmeClient",
            ],
            asyncHTTPClient
        ),
        .tests("ReachabilityRequestsTests", ["ReachabilityRequests", "ReachabilityRetry"], asyncHTTPClient),
        .tests(
            "ReachabilityAlamofireTests",
            ["AlamofireBlocks", "ReachabilityAlamofire", "ReachabilityHTTP", "ServerTrust", "TrustForge", "WebLab"],
            asyncHTTPClient
        ),
        .tests("ReachabilityOutboxTests", ["ReachabilityOutbox", "ReachabilityRetry", "OutboxVictim"], logging),
        .tests(
            "ReachabilityObservabilityTests",
            ["ReachabilityObservability", "ReachabilityRequests", "ReachabilityHTTP", "ReachabilityRetry"],
            metrics + lifecycle + tracing + inMemoryTracing + asyncHTTPClient
        ),
        .tests("ReachabilityChecksTests", ["ReachabilityChecks", "ReachabilityRetry"] + trust, crypto),
        .tests("WebProbeTests", ["ReachabilityChecks", "WebLab", "TrustForge"] + trust, webServer),
        .tests("ReachabilityLedgerTests", ["ReachabilityLedger"]),
        .tests(
            "ReachabilityServiceTests",
            ["ReachabilityChecks", "ReachabilityRetry", "ServerTrust", "ServiceLab", "TrustForge", "WebLab"] + service,
            certificates + database
        ),
        .tests(
            "ReachabilityServerTests",
            ["ReachabilityServer", "SystemBus", "ServerTrust", "ServiceLab", "NetworkDiagnostics", "TrustForge"]
                + service,
            nio + database + embeddedNIO
        ),
        .tests("MQTTTests", ["MQTT", "BrokerLab"]),
        // Apart from MQTTTests, which Scripts/sanitize builds without BoringSSL.
        .tests("MQTTTLSTests", ["MQTT", "BrokerLab", "TrustForge", "ServerTrust"], certificates),
        .tests("ReachabilityFleetTests", ["ReachabilityFleet", "ReachabilityLedger"]),
        .tests(
            "ReachabilityFleetAgentTests",
            ["ReachabilityFleetAgent", "ReachabilityLedger", "ServerTrust", "TrustForge"] + fleet,
            certificates
        ),
        .tests(
            "ReachabilityFleetHubTests",
            ["ReachabilityFleetHub", "ReachabilityServer", "ReachabilityRetry", "HubVictim"] + fleet + service,
            nio + database
        ),
        .tests(
            "ProgramTests",
            [
                "CommandLineSupport", "NetworkDiagnostics", "TrustForge", "ServerTrust", "ReachabilityChecks",
                "ReachabilityRetry", "ReachabilityRequests", "ReachabilityOutbox", "ReachabilityFleetAgent",
            ] + programs,
            commandLine + certificates
        ),
        .tests(
            "CommandTests",
            [
                "CommandLineSupport", "TrustForge", "WebLab", "ServerTrust", "BrokerLab", "BusLab",
                "ReachabilityFleetAgent", "ReachabilityLedger", "EmbeddingProgram",
            ] + programs + fleet,
            certificates,
            exclude: ["Help"]
        ),
        .tests("ScenarioTests", ["reachability"]),
        .tests("CheckScenarioTests", ["WebLab", "TrustForge", "reachability", "reachability-tools"]),
    ]
)

// Scripts/sanitize builds only the tests that it runs.
if let names = Context.environment["TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
