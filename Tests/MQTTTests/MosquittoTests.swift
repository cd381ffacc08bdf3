#if Fleet
import BrokerLab
import Glibc
import LinuxSupport
import MQTT
import NetworkLab
import Testing

/// The libmosquitto client with a real mosquitto.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct MosquittoTests {
    private static func options(_ broker: LabBroker, _ client: String) -> BrokerOptions {
        BrokerOptions(address: broker.address, client: client)
    }

    private static func peer(
        _ broker: LabBroker,
        _ client: String,
        _ change: (inout BrokerOptions) -> Void = { _ in }
    ) async throws -> BrokerPeer {
        var options = options(broker, client)
        change(&options)
        return try await BrokerPeer.begin(MosquittoBroker(), options)
    }

    @Test func `a message is delivered to a subscriber and acknowledged`() async throws {
        let broker = try await LabBroker()
        let (one, other) = (try await Self.peer(broker, "one"), try await Self.peer(broker, "other"))
        #expect(try await other.connected() == false)
        try await other.subscribe("a/+/b")
        // A message that is published before the connection is established is sent afterwards.
        let token = one.connection.publish(BrokerMessage(topic: "a/x/b", payload: Array("hello".utf8)))
        #expect(try await one.published(token) == .success)
        #expect(try await other.message() == BrokerMessage(topic: "a/x/b", payload: Array("hello".utf8)))
        one.connection.close()
        #expect(try await one.ended() == nil)
    }

    @Test func `the will is published after a lost connection, but not after a close`() async throws {
        let broker = try await LabBroker()
        let watcher = try await Self.peer(broker, "watcher")
        _ = try await watcher.connected()
        try await watcher.subscribe("will/#")
        for (name, end) in [("polite", true), ("rude", false)] {
            let peer = try await Self.peer(broker, name) { options in
                let will = BrokerMessage(topic: "will/\(name)", payload: [1], isRetained: true, expiry: .seconds(60))
                options.will = BrokerWill(will, delay: .zero)
            }
            _ = try await peer.connected()
            if end { peer.connection.close() } else { peer.connection.abandon() }
            #expect(try await peer.ended() == nil)
        }
        #expect(try await watcher.message().topic == "will/rude")
        let late = try await Self.peer(broker, "late")
        _ = try await late.connected()
        try await late.subscribe("will/#")
        let kept = try await late.message()
        #expect(kept.topic == "will/rude" && kept.isRetained)
    }

    @Test func `MQTT 3.1.1 supports wills, retained messages, sessions and refusals`() async throws {
        let broker = try await LabBroker(
            ["allow_anonymous true", "acl_file @/acl"],
            files: ["acl": Array("topic a/#\n".utf8)]
        )
        let watcher = try await Self.peer(broker, "watcher") { $0.version = .threeOneOne }
        _ = try await watcher.connected()
        try await watcher.subscribe("a/#")
        let peer = try await Self.peer(broker, "peer") { options in
            options.version = .threeOneOne
            options.sessionExpiry = .seconds(600)
            let will = BrokerMessage(topic: "a/will", payload: [1], isRetained: true, expiry: .seconds(60))
            options.will = BrokerWill(will, delay: .seconds(30))
        }
        #expect(try await peer.connected() == false)
        try await peer.subscribe("a/cmd")
        let token = peer.connection.publish(
            BrokerMessage(topic: "a/b", payload: [2], isRetained: true, expiry: .seconds(60))
        )
        #expect(try await peer.published(token) == .success)
        #expect(try await watcher.message().topic == "a/b")
        peer.connection.abandon()
        // MQTT 3.1.1 has no will delay.
        #expect(try await watcher.message().topic == "a/will")
        _ = watcher.connection.publish(BrokerMessage(topic: "a/cmd", payload: [3]))
        let again = try await Self.peer(broker, "peer") { options in
            options.version = .threeOneOne
            options.sessionExpiry = .seconds(600)
        }
        #expect(try await again.connected())
        #expect(try await again.message().payload == [3])

        let closed = try await LabBroker(["allow_anonymous false"])
        let nobody = try await Self.peer(closed, "nobody") { $0.version = .threeOneOne }
        #expect(try await nobody.ended()?.cause == .refused(.notAuthorized))
    }

    @Test func `the broker keeps a session and its messages until the session expires`() async throws {
        let broker = try await LabBroker()
        let first = try await Self.peer(broker, "keeper") { $0.sessionExpiry = .seconds(600) }
        #expect(try await first.connected() == false)
        try await first.subscribe("s")
        first.connection.abandon()
        _ = try await first.ended()
        let sender = try await Self.peer(broker, "sender")
        let token = sender.connection.publish(BrokerMessage(topic: "s", payload: [7]))
        #expect(try await sender.published(token) == .success)
        let second = try await Self.peer(broker, "keeper") { $0.sessionExpiry = .seconds(600) }
        #expect(try await second.connected())
        #expect(try await second.message().payload == [7])
        let third = try await Self.peer(broker, "keeper")
        // A client that requests no session gets a new one.
        #expect(try await third.connected() == false)
        // A client identifier has one connection. Some brokers send a reason to the older client. Mosquitto 2.0.11 does
        // not.
        let error = try #require(try await second.ended())
        #expect([.ended(.sessionTakenOver), .lost].contains(error.cause))
    }

    @Test func `a retained message is deleted after its expiry`() async throws {
        let broker = try await LabBroker()
        let sender = try await Self.peer(broker, "sender")
        for (topic, expiry) in [("e/short", Duration.seconds(1)), ("e/long", .seconds(600))] {
            let message = BrokerMessage(topic: topic, payload: [1], isRetained: true, expiry: expiry)
            #expect(try await sender.published(sender.connection.publish(message)) == .noMatchingSubscribers)
        }
        // The broker's clock has a resolution of 1 s, so the exact time of the expiry is not known.
        try await waitUntil(every: .milliseconds(200)) {
            let reader = try await Self.peer(broker, "reader")
            _ = try await reader.connected()
            try await reader.subscribe("e/#")
            let first = try await reader.message()
            reader.connection.abandon()
            return first.topic == "e/long"
        }
    }

    @Test func `the reason of a refused connection is reported`() async throws {
        let broker = try await LabBroker(["allow_anonymous false"])
        let peer = try await Self.peer(broker, "nobody")
        let error = try #require(try await peer.ended())
        #expect(error.cause == .refused(.notAuthorized))
        #expect(error.description.contains(": not authorized; check the client's certificate"))
    }

    @Test func `a client logs in with a user name and the first line of a password file`() async throws {
        // The password is `secret`.
        let line =
            #"door:$6$MDEyMzQ1Njc4OWFi$qEXipeLbgxRlwd06QHfY5WITkUZg0jLg9SZbXzq3ifXjfj+v3GbJGrSfC5PAg3UNCS+UFfbhUIZX4bmIAs330w=="#
        let files = [
            "users": Array("\(line)\n".utf8), "right": Array("secret\n".utf8), "wrong": Array("Secret\n".utf8),
        ]
        let broker = try await LabBroker(["allow_anonymous false", "password_file @/users"], files: files)
        func peer(_ name: String, _ file: String) async throws -> BrokerPeer {
            try await Self.peer(broker, name) { options in
                options.login = .init(user: "door", passwordFile: "\(broker.directory)/\(file)")
            }
        }
        #expect(try await peer("one", "right").connected() == false)
        let refused = try await peer("two", "wrong").ended()
        #expect(refused?.cause == .refused(.notAuthorized) || refused?.cause == .refused(.badUserNameOrPassword))
        let missing = try await peer("three", "none").ended()
        #expect(missing?.description.hasSuffix("cannot read a password from \(broker.directory)/none") == true)
    }

    @Test func `a message that the access control list forbids is refused with its code`() async throws {
        let broker = try await LabBroker(
            ["allow_anonymous true", "acl_file @/acl"],
            files: ["acl": Array("topic write allowed\n".utf8)]
        )
        let peer = try await Self.peer(broker, "one")
        _ = try await peer.connected()
        let bad = peer.connection.publish(BrokerMessage(topic: "forbidden", payload: []))
        #expect(try await peer.published(bad) == .notAuthorized)
        let good = peer.connection.publish(BrokerMessage(topic: "allowed", payload: []))
        #expect(try await !peer.published(good).isRefusal)
    }

    @Test func `a stopped, missing or silent broker is reported with the right cause`() async throws {
        let broker = try await LabBroker()
        let killed = try await Self.peer(broker, "killed")
        _ = try await killed.connected()
        try await broker.end()
        #expect(try await killed.ended()?.cause == .lost)

        let nobody = try await Self.peer(broker, "nobody")
        let error = try #require(try await nobody.ended())
        #expect(error.cause == .unreachable(.connectionRefused))
        #expect(error.description.hasSuffix("Connection refused; is the broker running and listening on this address?"))

        try await broker.start()
        let quiet = try await Self.peer(broker, "quiet") { $0.keepAlive = .seconds(5) }
        _ = try await quiet.connected()
        broker.signal(SIGSTOP)
        #expect(try await quiet.ended()?.cause == .silent)
        broker.signal(SIGCONT)
    }

    @Test func `a host name that cannot be resolved is reported`() async throws {
        let broker = try await LabBroker()
        var options = Self.options(broker, "lost")
        options.address = BrokerAddress(host: "nowhere.invalid", port: 1883, isSecured: false)
        let lost = try await BrokerPeer.begin(MosquittoBroker(), options)
        guard case .unknownHost? = try await lost.ended()?.cause else {
            Issue.record("an unknown host name is not reported as unknownHost")
            return
        }
    }

    @Test func `a thousand messages are acknowledged once each and delivered in the order of sending`() async throws {
        let broker = try await LabBroker()
        let (one, other) = (try await Self.peer(broker, "one"), try await Self.peer(broker, "other"))
        _ = try await other.connected()
        try await other.subscribe("n")
        let tokens = (0..<1000).map { number in
            one.connection.publish(BrokerMessage(topic: "n", payload: Array("\(number)".utf8)))
        }
        for token in tokens { #expect(try await one.published(token) == .success) }
        one.connection.close()
        #expect(try await one.ended() == nil)
        for number in 0..<1000 { #expect(try await other.message().payload == Array("\(number)".utf8)) }
    }
}
#endif
