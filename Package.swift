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

/// Not on the lowest floors, where unsafe code lives. There, too, a structure of libc that both Glibc and CLinux declare belongs to
/// the one the compiler happens to read first, so which import its members need would change from build to build.
let safe = strict + [.enableUpcomingFeature("MemberImportVisibility"), .strictMemorySafety()]

/// A product of somebody else's package, used only with a trait of ours.
func with(_ trait: String, _ products: [String], of package: String) -> [Target.Dependency] {
    products.map { .product(name: $0, package: package, condition: .when(traits: [trait])) }
}

let logging: [Target.Dependency] = [.product(name: "Logging", package: "swift-log")]
let metrics = with("Metrics", ["CoreMetrics"], of: "swift-metrics")
let lifecycle = with("Lifecycle", ["ServiceLifecycle"], of: "swift-service-lifecycle")
let tracing = with("Tracing", ["Instrumentation", "Tracing"], of: "swift-distributed-tracing")
let netlink: [Target.Dependency] = [.target(name: "NetworkReachability", condition: .when(traits: ["Netlink"]))]
let outbox: [Target.Dependency] = [.target(name: "ReachabilityOutbox", condition: .when(traits: ["Outbox"]))]
let database = with("Outbox", ["GRDB"], of: "GRDB.swift")
let history = with("Service", ["GRDB"], of: "GRDB.swift")
let configuration = with("Service", ["TOMLKit"], of: "TOMLKit")
let server = with("Service", ["NIOCore", "NIOPosix", "NIOHTTP1"], of: "swift-nio")
let mosquitto: [Target.Dependency] = [.target(name: "CMosquitto", condition: .when(traits: ["Fleet"]))]
let broker: [Target.Dependency] = [.target(name: "Mosquitto", condition: .when(traits: ["Fleet"]))]
let serverTLS = with("Service", ["NIOTLS"], of: "swift-nio") + with("Service", ["NIOSSL"], of: "swift-nio-ssl")

/// What reads arguments, and starts programs.
let commandLine =
    with("CommandLineTool", ["ArgumentParser"], of: "swift-argument-parser")
    + with("CommandLineTool", ["Subprocess"], of: "swift-subprocess")
    + with("CommandLineTool", ["SystemPackage"], of: "swift-system")

/// async-http-client, and what it is built on, in the versions it asks for.
let asyncHTTPClient =
    with("HTTP", ["AsyncHTTPClient"], of: "async-http-client")
    + with("HTTP", ["NIOCore", "NIOPosix", "NIOHTTP1"], of: "swift-nio")
    + with("HTTP", ["NIOSSL"], of: "swift-nio-ssl")
    + with("HTTP", ["NIOHTTP2"], of: "swift-nio-http2")

/// X.509, its encoding, and the algorithms below.
let certificates =
    with("ServerTrust", ["X509"], of: "swift-certificates")
    + with("ServerTrust", ["SwiftASN1"], of: "swift-asn1")
    + with("ServerTrust", ["Crypto", "CryptoExtras"], of: "swift-crypto")

/// What the clients of server trust speak TLS with.
let trustNIO =
    with("ServerTrust", ["NIOCore", "NIOPosix", "NIOTLS"], of: "swift-nio")
    + with("ServerTrust", ["NIOSSL"], of: "swift-nio-ssl")
let trustHTTP1 = with("ServerTrust", ["NIOHTTP1"], of: "swift-nio")

extension Target {
    /// A floor of the house, a folder of `Sources`. Who lives on one uses those on the same floor and below.
    enum Floor: String {
        case linux = "Linux"
        case kernel = "Kernel"
        case broker = "Broker"
        case core = "Core"
        case trust = "Trust"
        case requests = "Requests"
        case checks = "Checks"
        case service = "Service"
        case programs = "Programs"

        var settings: [SwiftSetting] { [.linux, .kernel, .broker].contains(self) ? strict : safe }
    }

    /// - Parameter files: What it has in it as bytes.
    static func library(
        _ name: String,
        on floor: Floor,
        uses rooms: [String],
        _ others: [Dependency] = [],
        files: [String] = []
    ) -> Target {
        .target(
            name: name,
            dependencies: rooms.map { .init(stringLiteral: $0) } + others,
            path: "Sources/\(floor.rawValue)/\(name)",
            resources: files.map { .embedInCode($0) },
            swiftSettings: floor.settings
        )
    }

    static func program(_ name: String, uses rooms: [String], _ others: [Dependency] = []) -> Target {
        .executableTarget(
            name: name,
            dependencies: rooms.map { .init(stringLiteral: $0) } + commandLine + others,
            path: "Sources/Programs/\(name)",
            swiftSettings: safe
        )
    }

    /// What tests use, in `Tests`.
    static func support(_ name: String, uses rooms: [String], _ others: [Dependency] = []) -> Target {
        .target(
            name: name,
            dependencies: rooms.map { .init(stringLiteral: $0) } + others,
            path: "Tests/\(name)",
            swiftSettings: strict
        )
    }

    /// A program that tests run, in `Tests`.
    static func tested(_ name: String, uses rooms: [String], _ others: [Dependency] = []) -> Target {
        .executableTarget(
            name: name,
            dependencies: rooms.map { .init(stringLiteral: $0) } + others,
            path: "Tests/\(name)",
            swiftSettings: strict
        )
    }

    static func tests(
        _ name: String,
        uses rooms: [String],
        _ others: [Dependency] = [],
        exclude: [String] = []
    ) -> Target {
        .testTarget(
            name: name,
            dependencies: rooms.map { .init(stringLiteral: $0) } + others,
            exclude: exclude,
            swiftSettings: strict
        )
    }
}

let package = Package(
    name: "network-reachability",
    products: [
        .library(name: "NetworkReachability", targets: ["NetworkReachability"]),
        .library(name: "NetworkDiagnostics", targets: ["NetworkDiagnostics"]),
        .library(name: "NetworkReachabilityTesting", targets: ["NetworkReachabilityTesting"]),
        .library(name: "NetworkReachabilityMetrics", targets: ["NetworkReachabilityMetrics"]),
        .library(name: "NetworkReachabilityLifecycle", targets: ["NetworkReachabilityLifecycle"]),
        .library(name: "ReachabilityChecks", targets: ["ReachabilityChecks"]),
        .library(name: "ReachabilityRetry", targets: ["ReachabilityRetry"]),
        .library(name: "ReachabilityRetryLifecycle", targets: ["ReachabilityRetryLifecycle"]),
        .library(name: "ReachabilityRetryTracing", targets: ["ReachabilityRetryTracing"]),
        .library(name: "ReachabilityOutbox", targets: ["ReachabilityOutbox"]),
        .library(name: "ReachabilityHTTP", targets: ["ReachabilityHTTP"]),
        .library(name: "ReachabilityRequests", targets: ["ReachabilityRequests"]),
        .library(name: "ReachabilityAlamofire", targets: ["ReachabilityAlamofire"]),
        .library(name: "ReachabilityRequestsMetrics", targets: ["ReachabilityRequestsMetrics"]),
        .library(name: "ReachabilityURLSession", targets: ["ReachabilityURLSession"]),
        .library(name: "ServerTrust", targets: ["ServerTrust"]),
        .library(name: "ServerTrustNIO", targets: ["ServerTrustNIO"]),
        .library(name: "ServerTrustHTTP", targets: ["ServerTrustHTTP"]),
        .library(name: "ServerTrustAsyncHTTPClient", targets: ["ServerTrustAsyncHTTPClient"]),
        .executable(name: "reachability", targets: ["reachability"]),
        .executable(name: "reachability-check", targets: ["reachability-check"]),
        .executable(name: "reachability-download", targets: ["reachability-download"]),
        .executable(name: "reachability-fleet", targets: ["reachability-fleet"]),
        .executable(name: "reachability-outbox", targets: ["reachability-outbox"]),
        .executable(name: "reachability-serve", targets: ["reachability-serve"]),
        .executable(name: "reachability-trust", targets: ["reachability-trust"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "The `reachability` command; needs swift-argument-parser and swift-subprocess.",
            enabledTraits: ["Netlink"]
        ),
        .trait(name: "Metrics", description: "The product NetworkReachabilityMetrics; needs swift-metrics."),
        .trait(
            name: "Lifecycle",
            description: "The product NetworkReachabilityLifecycle; needs swift-service-lifecycle."
        ),
        .trait(name: "Tracing", description: "The product ReachabilityRetryTracing; needs swift-distributed-tracing."),
        .trait(name: "Netlink", description: "Retries and the outbox wait for the kernel's word; needs libnl."),
        .trait(name: "Outbox", description: "The product ReachabilityOutbox; needs GRDB and SQLite."),
        .trait(name: "HTTP", description: "The product ReachabilityHTTP; needs async-http-client and swift-nio."),
        .trait(
            name: "ServerTrust",
            description:
                "ServerTrust and its clients; needs swift-certificates, swift-asn1, swift-crypto and swift-nio."
        ),
        .trait(
            name: "Service",
            description:
                "The program `reachability-serve`; needs swift-nio, GRDB and TOMLKit, and the trait CommandLineTool.",
            enabledTraits: ["ServerTrust"]
        ),
        // Not by default, for libmosquitto is not everywhere.
        .trait(
            name: "Fleet",
            description: "The program `reachability-fleet`; needs libmosquitto, and the trait CommandLineTool.",
            enabledTraits: ["Service"]
        ),
        .default(
            enabledTraits: [
                "CommandLineTool", "Metrics", "Lifecycle", "Tracing", "Netlink", "Outbox", "HTTP", "ServerTrust",
                "Service",
            ]
        ),
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
        // Without its trait SubprocessFoundation, which brings Foundation.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
        // Paths and error numbers, in which swift-subprocess speaks.
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        // The system's headers, and what Swift cannot import of them.
        .systemLibrary(name: "CLinux", path: "Sources/Linux/CLinux"),
        .library("LinuxPrimitives", on: .linux, uses: ["CLinux"]),
        .library("Sockets", on: .linux, uses: ["LinuxPrimitives", "CLinux"]),

        .systemLibrary(
            name: "CNetlink",
            path: "Sources/Kernel/CNetlink",
            pkgConfig: "libnl-route-3.0",
            providers: [.apt(["libnl-3-dev", "libnl-route-3-dev", "pkg-config"])]
        ),
        .library("RouteFilter", on: .kernel, uses: ["LinuxPrimitives", "CLinux"]),
        .library("Netlink", on: .kernel, uses: ["RouteFilter", "LinuxPrimitives", "CNetlink", "CLinux"]),

        // What recordings of netlink need beyond that.
        .library("NetlinkRecording", on: .kernel, uses: ["Netlink", "LinuxPrimitives", "CLinux"]),

        // With the trait Fleet.
        .systemLibrary(
            name: "CMosquitto",
            path: "Sources/Broker/CMosquitto",
            pkgConfig: "libmosquitto",
            providers: [.apt(["libmosquitto-dev", "pkg-config"])]
        ),
        .library("MessageBroker", on: .broker, uses: ["LinuxPrimitives"]),
        .library("Mosquitto", on: .broker, uses: ["MessageBroker", "LinuxPrimitives", "CLinux"], mosquitto),

        .library("NetworkReachability", on: .core, uses: ["Netlink", "RouteFilter", "LinuxPrimitives"], logging),
        .library(
            "NetworkReachabilityTesting",
            on: .core,
            uses: ["NetworkReachability", "Netlink", "RouteFilter", "LinuxPrimitives"]
        ),
        .library("NetworkReachabilityMetrics", on: .core, uses: ["NetworkReachability", "LinuxPrimitives"], metrics),
        .library("NetworkReachabilityLifecycle", on: .core, uses: ["NetworkReachability"], lifecycle),
        .library(
            "NetworkDiagnostics",
            on: .core,
            uses: ["NetworkReachability", "NetlinkRecording", "Netlink", "RouteFilter", "LinuxPrimitives"]
        ),

        // With the trait ServerTrust; none of it needs libnl.
        .library("ServerTrust", on: .trust, uses: ["LinuxPrimitives"], logging + certificates),
        .library("ServerTrustNIO", on: .trust, uses: ["ServerTrust", "LinuxPrimitives"], logging + trustNIO),
        .library(
            "ServerTrustHTTP",
            on: .trust,
            uses: ["ServerTrust", "ServerTrustNIO", "LinuxPrimitives"],
            trustNIO + trustHTTP1
        ),
        // With the trait HTTP, too.
        .library(
            "ServerTrustAsyncHTTPClient",
            on: .trust,
            uses: ["ServerTrust", "LinuxPrimitives"],
            logging + asyncHTTPClient
        ),

        // Without the trait Netlink none of these needs libnl.
        .library("ReachabilityRetry", on: .requests, uses: ["LinuxPrimitives"], logging + netlink),
        .library(
            "ReachabilityRetryLifecycle",
            on: .requests,
            uses: ["ReachabilityRetry", "LinuxPrimitives"],
            lifecycle
        ),
        .library(
            "ReachabilityRetryTracing",
            on: .requests,
            uses: ["ReachabilityRetry", "LinuxPrimitives"],
            tracing
        ),
        // With the trait HTTP.
        .library(
            "ReachabilityHTTP",
            on: .requests,
            uses: ["ReachabilityRetry", "LinuxPrimitives"],
            // Which the client has, too, and has to be asked about.
            asyncHTTPClient + outbox + with("HTTP", ["Tracing"], of: "swift-distributed-tracing")
        ),
        .library(
            "ReachabilityRequests",
            on: .requests,
            uses: ["ReachabilityHTTP", "ReachabilityRetry", "LinuxPrimitives"],
            asyncHTTPClient
        ),
        // Alamofire's names, where the modules below use them for something else.
        .library(
            "ReachabilityAlamofire",
            on: .requests,
            uses: ["AlamofireFoundationNames", "ReachabilityRequests", "ReachabilityRetry"]
        ),
        .library("AlamofireFoundationNames", on: .requests, uses: ["ReachabilityRequests", "ReachabilityRetry"]),
        // With the traits HTTP and Metrics.
        .library("ReachabilityRequestsMetrics", on: .requests, uses: ["ReachabilityRequests"], metrics),
        // Without a trait of its own: FoundationNetworking comes with the toolchain, and nothing is fetched for it.
        .library("ReachabilityURLSession", on: .requests, uses: ["ReachabilityRetry", "LinuxPrimitives"]),
        // With the trait Outbox.
        .library(
            "ReachabilityOutbox",
            on: .requests,
            uses: ["ReachabilityRetry", "LinuxPrimitives"],
            logging + database + netlink
        ),

        // With the trait ServerTrust.
        .library(
            "ReachabilityChecks",
            on: .checks,
            uses: [
                "NetworkReachability", "Netlink", "Sockets", "ServerTrust", "ServerTrustNIO", "ServerTrustHTTP",
                "ReachabilityRetry", "LinuxPrimitives",
            ],
            trustNIO + trustHTTP1
        ),

        // Pure, and needs nothing.
        .library("ReachabilityLedger", on: .service, uses: []),
        // With the trait Service.
        .library(
            "ReachabilityService",
            on: .service,
            uses: [
                "ReachabilityFleet", "ReachabilityLedger", "ReachabilityChecks", "MessageBroker", "ServerTrust",
                "NetworkReachability", "NetworkDiagnostics",
                "LinuxPrimitives",
            ],
            logging + history + configuration
        ),
        .library(
            "ReachabilityNotifying",
            on: .service,
            uses: [
                "ReachabilityService", "ReachabilityLedger", "ReachabilityRetry", "NetworkReachability", "ServerTrust",
                "ServerTrustNIO", "ServerTrustHTTP", "LinuxPrimitives",
            ],
            certificates + trustNIO + trustHTTP1
        ),
        .library(
            "ReachabilityServer",
            on: .service,
            uses: [
                "ReachabilityService", "ReachabilityLedger", "ReachabilityChecks", "NetworkReachability",
                "NetworkDiagnostics", "ServerTrust", "ServerTrustNIO", "LinuxPrimitives",
            ],
            logging + server + serverTLS + certificates,
            files: ["API/openapi.json"]
        ),

        // What a machine and the hub say to each other, and what follows; pure, and knows of no broker.
        .library(
            "ReachabilityFleet",
            on: .service,
            uses: ["ReachabilityLedger", "ReachabilityChecks", "LinuxPrimitives"]
        ),
        // With the trait Service.
        .library(
            "ReachabilityHub",
            on: .service,
            uses: [
                "ReachabilityFleet", "ReachabilityServer", "ReachabilityNotifying", "ReachabilityService",
                "ReachabilityLedger", "MessageBroker", "NetworkReachability", "LinuxPrimitives",
            ],
            history + server,
            files: ["API/openapi.json"]
        ),
        // Makes and takes back the certificates of a fleet, and renews that of a machine.
        .library(
            "ReachabilityFleetAuthority",
            on: .service,
            uses: ["ReachabilityFleet", "ServerTrust", "LinuxPrimitives"],
            certificates
        ),
        // Tells a broker of one machine, whatever the broker's client is.
        .library(
            "ReachabilityFleetAgent",
            on: .service,
            uses: ["ReachabilityFleet", "MessageBroker", "NetworkReachability", "LinuxPrimitives"]
        ),

        .library(
            "CommandLineSupport",
            on: .programs,
            uses: ["NetworkReachability", "NetworkDiagnostics", "Netlink", "LinuxPrimitives"],
            commandLine
        ),
        .program(
            "reachability",
            uses: [
                "CommandLineSupport", "NetworkReachability", "NetworkDiagnostics", "ReachabilityRetry", "Netlink",
                "LinuxPrimitives",
            ],
            logging
        ),
        .program(
            "reachability-check",
            uses: [
                "CommandLineSupport", "ReachabilityChecks", "NetworkReachability", "NetworkDiagnostics", "ServerTrust",
                "LinuxPrimitives",
            ]
        ),
        .program(
            "reachability-download",
            uses: [
                "CommandLineSupport", "ReachabilityRequests", "ReachabilityHTTP", "ReachabilityRetry",
                "LinuxPrimitives",
            ],
            asyncHTTPClient + with("HTTP", ["Crypto"], of: "swift-crypto")
        ),
        // With the trait Fleet.
        .program(
            "reachability-fleet",
            uses: [
                "CommandLineSupport", "ReachabilityFleetAgent", "ReachabilityFleetAuthority", "ReachabilityHub",
                "ReachabilityFleet", "ReachabilityServer", "ReachabilityNotifying", "ReachabilityService",
                "ReachabilityRetry", "MessageBroker", "NetworkReachability", "ServerTrust", "LinuxPrimitives",
            ],
            broker + server
        ),
        .program(
            "reachability-outbox",
            uses: [
                "CommandLineSupport", "ReachabilityHTTP", "ReachabilityOutbox", "ReachabilityRetry", "LinuxPrimitives",
            ],
            asyncHTTPClient
        ),
        .program(
            "reachability-serve",
            uses: [
                "CommandLineSupport", "ReachabilityNotifying", "ReachabilityServer", "ReachabilityService",
                "ReachabilityRetry", "NetworkReachability", "ServerTrust", "LinuxPrimitives",
            ],
            logging + certificates
        ),
        .program(
            "reachability-trust",
            uses: [
                "CommandLineSupport", "NetworkReachability", "ServerTrust", "ServerTrustNIO", "ServerTrustHTTP",
                "Netlink", "LinuxPrimitives",
            ],
            logging + certificates + trustNIO
        ),

        .target(name: "CNetworkLab", path: "Tests/CNetworkLab"),
        .support("NetworkLab", uses: ["CNetworkLab", "Netlink", "Sockets", "LinuxPrimitives"]),
        .support("TestSupport", uses: ["LinuxPrimitives"]),
        .support("TrustForge", uses: ["ServerTrust", "TestSupport"], certificates),
        .support(
            "WebLab",
            uses: ["NetworkLab", "TrustForge", "ServerTrust", "LinuxPrimitives"],
            trustNIO + certificates + with("ServerTrust", ["NIOEmbedded"], of: "swift-nio")
        ),
        .support("BrokerLab", uses: ["MessageBroker", "NetworkLab", "LinuxPrimitives"]),
        .tested("EmbeddingProgram", uses: ["NetworkReachability"]),
        .tested("OutboxVictim", uses: ["ReachabilityOutbox", "ReachabilityRetry"]),
        // Killed by tests while it keeps what machines tell.
        .tested("HubVictim", uses: ["ReachabilityHub", "ReachabilityFleet", "ReachabilityService", "LinuxPrimitives"]),
        // What Scripts/mutate and Scripts/fuzz run.
        .tested("TrustFuzzer", uses: ["ServerTrust", "TrustForge", "TestSupport"], certificates),
        // What Benchmarks/run measures beside OpenSSL.
        .executableTarget(
            name: "TrustBenchmark",
            dependencies: ["ServerTrust", "TrustForge"],
            path: "Benchmarks/trust",
            swiftSettings: strict
        ),
        // Small requests and large bodies, beside async-http-client and URLSession.
        .executableTarget(
            name: "RequestBenchmark",
            dependencies: ["ReachabilityRequests"] + asyncHTTPClient,
            path: "Benchmarks/requests",
            swiftSettings: strict
        ),
        // Echoes and connections, many at a time.
        .executableTarget(
            name: "SocketBenchmark",
            dependencies: ["Sockets", "LinuxPrimitives"],
            path: "Benchmarks/sockets",
            swiftSettings: strict
        ),
        .tested(
            "ReadmeClient",
            uses: ["ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityRetry"],
            asyncHTTPClient
        ),

        .tests("LinuxPrimitivesTests", uses: ["LinuxPrimitives", "NetworkLab", "TestSupport"]),
        .tests("SocketsTests", uses: ["Sockets", "LinuxPrimitives", "NetworkLab", "TestSupport"]),
        .tests(
            "NetlinkTests",
            uses: ["Netlink", "RouteFilter", "LinuxPrimitives", "CLinux", "NetworkLab", "TestSupport"]
        ),
        .tests(
            "MosquittoTests",
            uses: ["MessageBroker", "LinuxPrimitives", "BrokerLab", "NetworkLab", "TestSupport"],
            broker
        ),
        // Apart from the tests without TLS, which Scripts/sanitize builds without BoringSSL.
        .tests(
            "MosquittoTLSTests",
            uses: ["MessageBroker", "BrokerLab", "NetworkLab", "TestSupport", "TrustForge", "ServerTrust"],
            broker + certificates
        ),
        .tests(
            "NetworkReachabilityTests",
            uses: [
                "NetworkReachability", "NetworkDiagnostics", "NetworkReachabilityTesting", "Netlink", "LinuxPrimitives",
                "CNetlink", "CLinux", "NetworkLab", "TestSupport",
            ]
        ),
        .tests(
            "NetworkReachabilityMetricsTests",
            uses: [
                "NetworkReachability", "NetworkReachabilityMetrics", "NetworkReachabilityTesting", "Netlink",
                "LinuxPrimitives",
            ],
            metrics
        ),
        .tests(
            "NetworkReachabilityLifecycleTests",
            uses: ["NetworkReachability", "NetworkReachabilityLifecycle", "NetworkReachabilityTesting"],
            logging + lifecycle
        ),
        .tests(
            "NetworkDiagnosticsTests",
            uses: [
                "NetworkDiagnostics", "NetworkReachability", "NetworkReachabilityTesting", "Netlink", "LinuxPrimitives",
                "NetworkLab", "TestSupport",
            ]
        ),
        .tests(
            "ConformanceTests",
            uses: [
                "NetworkReachability", "NetworkDiagnostics", "NetworkReachabilityTesting", "Netlink", "RouteFilter",
                "LinuxPrimitives", "NetworkLab",
            ],
            logging
        ),
        .tests("ScenarioTests", uses: ["Netlink", "LinuxPrimitives", "NetworkLab", "TestSupport", "reachability"]),
        .tests(
            "CheckScenarioTests",
            uses: [
                "NetworkLab", "WebLab", "TrustForge", "LinuxPrimitives", "TestSupport", "reachability",
                "reachability-check", "reachability-serve",
            ]
        ),

        .tests(
            "ServerTrustTests",
            uses: ["ServerTrust", "TrustForge", "LinuxPrimitives", "NetworkLab", "TestSupport"],
            logging + certificates
        ),
        .tests(
            "ServerTrustNIOTests",
            uses: [
                "ServerTrustNIO", "ServerTrustHTTP", "ServerTrust", "TrustForge", "LinuxPrimitives", "NetworkLab",
                "WebLab", "TestSupport",
            ],
            logging + trustNIO + certificates
        ),
        .tests(
            "ServerTrustHTTPTests",
            uses: [
                "ServerTrustHTTP", "ServerTrustNIO", "ServerTrust", "TrustForge", "LinuxPrimitives", "NetworkLab",
                "WebLab", "TestSupport",
            ],
            trustNIO + trustHTTP1 + certificates + with("ServerTrust", ["NIOEmbedded"], of: "swift-nio")
        ),
        .tests(
            "ServerTrustAsyncHTTPClientTests",
            uses: [
                "ServerTrustAsyncHTTPClient", "ServerTrust", "TrustForge", "LinuxPrimitives", "NetworkLab", "WebLab",
                "TestSupport",
            ],
            asyncHTTPClient + certificates
        ),

        .tests(
            "ReachabilityChecksTests",
            uses: [
                "ReachabilityChecks", "ReachabilityRetry", "NetworkReachability", "NetworkReachabilityTesting",
                "Sockets",
                "LinuxPrimitives", "NetworkLab", "TestSupport",
            ]
        ),
        .tests(
            "WebProbeTests",
            uses: [
                "ReachabilityChecks", "NetworkReachability", "ServerTrust", "Sockets", "LinuxPrimitives", "WebLab",
                "TrustForge", "NetworkLab", "TestSupport",
            ],
            trustNIO + trustHTTP1 + certificates + with("ServerTrust", ["NIOEmbedded"], of: "swift-nio")
        ),
        .tests(
            "ReachabilityRetryTests",
            uses: [
                "ReachabilityRetry", "NetworkReachability", "NetworkReachabilityTesting", "Netlink", "LinuxPrimitives",
                "NetworkLab", "TestSupport",
            ]
        ),
        .tests(
            "ReachabilityRetryLifecycleTests",
            uses: ["ReachabilityRetryLifecycle", "ReachabilityRetry", "LinuxPrimitives"],
            logging + lifecycle
        ),
        .tests(
            "ReachabilityRetryTracingTests",
            uses: [
                "ReachabilityRetryTracing", "ReachabilityHTTP", "ReachabilityRetry", "LinuxPrimitives", "NetworkLab",
                "TestSupport",
            ],
            asyncHTTPClient + tracing + with("Tracing", ["InMemoryTracing"], of: "swift-distributed-tracing")
        ),
        .tests(
            "ReachabilityHTTPTests",
            uses: [
                "ReachabilityHTTP", "ReachabilityURLSession", "ReachabilityOutbox", "ReachabilityRetry",
                "NetworkReachability", "NetworkReachabilityTesting", "Netlink", "LinuxPrimitives", "NetworkLab",
                "WebLab", "TestSupport", "ReadmeClient",
            ],
            asyncHTTPClient
        ),
        .tests(
            "ReachabilityRequestsTests",
            uses: ["ReachabilityRequests", "ReachabilityRetry", "LinuxPrimitives", "NetworkLab", "TestSupport"],
            asyncHTTPClient
        ),
        .tests(
            "ReachabilityRequestsMetricsTests",
            uses: ["ReachabilityRequestsMetrics", "ReachabilityRequests", "LinuxPrimitives"],
            metrics
        ),
        // What is to be shown to compile imports ReachabilityAlamofire, and nothing of ours beside it.
        .tests("ReachabilityAlamofireTests", uses: ["ReachabilityAlamofire", "LinuxPrimitives", "NetworkLab"]),
        .tests(
            "ReachabilityOutboxTests",
            uses: [
                "ReachabilityOutbox", "ReachabilityRetry", "Netlink", "LinuxPrimitives", "NetworkLab", "TestSupport",
                "OutboxVictim",
            ],
            logging
        ),
        .tests("ReachabilityLedgerTests", uses: ["ReachabilityLedger", "TestSupport"]),
        .tests(
            "ReachabilityFleetTests",
            uses: ["ReachabilityFleet", "ReachabilityLedger", "LinuxPrimitives", "TestSupport"]
        ),
        .tests(
            "ReachabilityHubTests",
            uses: [
                "ReachabilityHub", "ReachabilityFleet", "ReachabilityServer", "ReachabilityNotifying",
                "ReachabilityService", "ReachabilityLedger", "ReachabilityRetry", "MessageBroker", "LinuxPrimitives",
                "NetworkLab", "TestSupport", "HubVictim",
            ],
            server + history
        ),
        .tests(
            "ReachabilityFleetAuthorityTests",
            uses: ["ReachabilityFleetAuthority", "ServerTrust", "LinuxPrimitives", "TrustForge", "TestSupport"],
            certificates
        ),
        .tests(
            "ReachabilityFleetAgentTests",
            uses: [
                "ReachabilityFleetAgent", "ReachabilityFleet", "ReachabilityLedger", "MessageBroker",
                "LinuxPrimitives", "TestSupport",
            ]
        ),
        .tests(
            "ReachabilityServiceTests",
            uses: [
                "ReachabilityService", "ReachabilityChecks", "ReachabilityLedger", "NetworkReachability",
                "NetworkReachabilityTesting", "ServerTrust", "LinuxPrimitives", "TestSupport",
            ],
            history
        ),
        .tests(
            "ReachabilityNotifyingTests",
            uses: [
                "ReachabilityNotifying", "ReachabilityService", "ReachabilityLedger", "ReachabilityRetry",
                "NetworkReachability", "NetworkReachabilityTesting", "ServerTrust", "LinuxPrimitives", "NetworkLab",
                "TestSupport", "TrustForge", "WebLab",
            ],
            certificates + history
        ),
        .tests(
            "ReachabilityServerTests",
            uses: [
                "ReachabilityServer", "ReachabilityService", "ReachabilityLedger", "NetworkReachability",
                "NetworkDiagnostics", "NetworkReachabilityTesting", "LinuxPrimitives", "NetworkLab", "TestSupport",
                "TrustForge", "ServerTrust",
            ],
            server + serverTLS + history
        ),
        .tests(
            "ProgramTests",
            uses: [
                "CommandLineSupport", "NetworkDiagnostics", "NetworkReachability", "NetworkReachabilityTesting",
                "LinuxPrimitives", "NetworkLab", "TestSupport", "TrustForge", "ServerTrust", "ReachabilityChecks",
                "ReachabilityRequests", "ReachabilityFleetAgent", "reachability", "reachability-check",
                "reachability-download", "reachability-fleet", "reachability-outbox", "reachability-trust",
            ],
            commandLine + certificates
        ),
        .tests(
            "CommandTests",
            uses: [
                "CommandLineSupport", "NetworkReachability", "LinuxPrimitives", "NetworkLab", "TestSupport",
                "TrustForge", "WebLab", "ServerTrust", "BrokerLab", "MessageBroker", "ReachabilityFleet",
                "ReachabilityFleetAuthority", "ReachabilityLedger",
                "reachability", "reachability-check", "reachability-download", "reachability-fleet",
                "reachability-outbox", "reachability-serve", "reachability-trust", "EmbeddingProgram",
            ],
            certificates + broker,
            exclude: ["Help"]
        ),
    ]
)

// Scripts/sanitize builds only the tests that it runs.
if let names = Context.environment["TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
