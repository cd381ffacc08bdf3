import NetworkLab
import Testing

/// What `reachability outbox flush` sends, and makes of real answers.
@Suite struct OutboxDeliveryTests {
    private let outbox: OutboxScratch
    private let server: AnswerServer

    init() throws {
        outbox = try OutboxScratch()
        server = try AnswerServer("200 OK")
    }

    @Test(arguments: [
        (307, "waiting", "status 307, a redirect: a portal, or the URL has moved"), (404, "dead", "status 404"),
        (503, "waiting", "status 503"),
    ])
    func `only success deletes, and the list says what became of all others`(
        status: Int,
        state: String,
        cause: String
    ) async throws {
        server.answer("\(status) Said\r\nLocation: http://127.0.0.1:1/")
        _ = try await outbox.run("add \(server.url)")
        let result = try await outbox.run("flush")
        #expect(result.status == (state == "dead" ? 65 : 75))
        #expect(result.output.hasSuffix("\(cause)\n") && result.output.hasPrefix("1: "))
        #expect(result.errors == "")
        let list = try await outbox.run("list --json").output
        #expect(list.contains("\"state\":\"\(state)\"") && list.contains("\"lastError\":\"\(cause)\""))
        if state == "dead" { _ = try await outbox.run("requeue 1") }
        server.answer("204 Done")
        #expect(try await outbox.run("flush") == CommandResult(status: 0, output: "1: delivered\n", errors: ""))
        #expect(try await outbox.run("list").output == "")
        #expect(server.requests.count == 2)
    }

    @Test func `a dead letter is listed, put in again under its number and its key, and dropped`() async throws {
        server.answer("404 Not Found")
        _ = try await outbox.run("add --key order-7 \(server.url)")
        _ = try await outbox.run("add --key order-8 \(server.url)")
        let refused = try await outbox.run("flush")
        let lines = "1: dead letter, status 404\n2: dead letter, status 404\n"
        #expect(refused == CommandResult(status: 65, output: lines, errors: ""))
        let list = try await outbox.run("list --dead")
        #expect(
            list.output == """
                1: POST http://127.0.0.1:\(server.port), priority 0, 27 bytes, attempts 1, dead,
                    since TIME, key order-7, died TIME,
                    reason: status 404
                2: POST http://127.0.0.1:\(server.port), priority 0, 27 bytes, attempts 1, dead,
                    since TIME, key order-8, died TIME,
                    reason: status 404

                """
        )
        #expect(try await outbox.run("list").output == list.output)
        let idle = try await outbox.run("flush")
        let hint = "nothing to send; dead letters: 2, see `reachability outbox list`\n"
        #expect(idle == CommandResult(status: 0, output: hint, errors: ""))
        server.answer("200 OK")
        let again = try await outbox.run("requeue 1 9")
        let missing = "reachability: there is no dead letter 9\n"
        #expect(again == CommandResult(status: 1, output: "1\n", errors: missing))
        #expect(try await outbox.run("list --dead --json").lines.count == 1)
        #expect(try await outbox.run("flush").output == "1: delivered\n")
        let keys = server.requests.compactMap { $0.firstMatch(of: #/Idempotency-Key: (\w+)/#)?.1 }
        #expect(keys.count == 3 && keys[0] == keys[2] && keys[0] != keys[1])
        #expect(try await outbox.run("drop --dead") == CommandResult(status: 0, output: "2\n", errors: ""))
        #expect(try await outbox.run("list").output == "")
        #expect(try await outbox.run("flush").output == "nothing to send\n")
    }

    @Test func `what was put in is sent, and nothing is added but what frames it`() async throws {
        _ = try await outbox.run(
            #"add --method PUT --header 'Idempotency-Key: k' --header 'A: "q\' --header 'B:' --body - "$URL""#,
            after: "URL='\(server.url)a/../b?c=%20d&e'; printf 'a\\0b' |"
        )
        _ = try await outbox.run("add --header 'Idempotency-Key: l' \(server.url)")
        #expect(try await outbox.run("flush").output == "1: delivered\n2: delivered\n")
        let lines = server.requests.map { $0.split(separator: "\r\n", omittingEmptySubsequences: false) }
        #expect(lines.map(\.first) == ["PUT /a/../b?c=%20d&e HTTP/1.1", "POST / HTTP/1.1"])
        #expect(lines.map(\.last) == ["a\0b", ""])
        let fields = lines.map { Set($0.dropFirst().dropLast(2).map { $0.lowercased() }) }
        let host = "host: 127.0.0.1:\(server.port)"
        #expect(fields.first == [host, "idempotency-key: k", #"a: "q\"#, "b: ", "content-length: 3"])
        #expect(fields.last == [host, "idempotency-key: l", "content-length: 0"])
    }

    @Test func `a server of TLS is sent to where its root is known, and is a portal where it is not`() async throws {
        let server = try await TLSServer.start()
        _ = try await outbox.run("add --method GET https://127.0.0.1:\(server.port)/")
        let portal = "the server's certificate does not verify: a portal, or a root that is not known here"
        let none = "TLS cannot begin: the roots that are trusted cannot be read"
        for (file, cause) in [("stranger.pem", portal), ("none.pem", none), ("../../../../dev/null", none)] {
            let result = try await outbox.run("flush --attempts 1", after: Self.trusting(server.directory.file(file)))
            #expect(result == CommandResult(status: 75, output: "1: waits, \(cause)\n", errors: ""))
        }
        #expect(try await outbox.run("list").output.contains("attempts 0, waiting"))
        let known = Self.trusting(server.directory.file("root.pem"))
        #expect(try await outbox.run("flush", after: known).output == "1: delivered\n")
    }

    private static func trusting(_ file: String) -> String { "SSL_CERT_FILE=\(file); export SSL_CERT_FILE;" }

    @Test func `a service that is dead does not hold up another on the same host`() async throws {
        _ = try await outbox.run("add http://127.0.0.1:1/")
        _ = try await outbox.run("add http://127.0.0.1:1/")
        _ = try await outbox.run("add \(server.url)")
        let result = try await outbox.run("flush")
        #expect(result.status == 75 && result.lines.count == 3)
        #expect(result.lines.contains("3: delivered"))
        #expect(result.lines.contains("http://127.0.0.1:1: 1 left behind 1"))
        #expect(result.output.contains("1: not delivered, attempt 1: cannot connect"))
    }

    @Test func `flush says why it sends nothing`() async throws {
        server.answer("503 Busy\r\nRetry-After: 3000")
        _ = try await outbox.run("add \(server.url)")
        #expect(try await outbox.run("flush").output == "1: not delivered, attempt 1: status 503\n")
        let waiting = try await outbox.run("flush")
        let sentence = "http://127.0.0.1:\(server.port): 1 left, not before TIME, as the server said\n"
        #expect(waiting == CommandResult(status: 75, output: sentence, errors: ""))
        #expect(try await outbox.run("list").output.contains("next try TIME"))
        #expect(server.requests.count == 1)
        let namespace = try LabNamespace()
        let away = try OutboxScratch()
        _ = try await away.run("add http://192.0.2.1/")
        let result = try await away.run("flush", in: namespace)
        #expect(
            result
                == CommandResult(
                    status: 75,
                    output: "http://192.0.2.1: 1 left, not reachable: no interface\n",
                    errors: ""
                )
        )
        #expect(try await away.run("list").output.contains("attempts 0, waiting"))
    }

    @Test func `a request is given up after so many attempts, and what expired is told where errors go`() async throws {
        server.answer("500 Broken")
        _ = try await outbox.run("add \(server.url)")
        let first = try await outbox.run("flush --attempts 2")
        #expect(first.output == "1: not delivered, attempt 1: status 500\n")
        let second = try await outbox.run("flush --attempts 2")
        let line = "1: dead letter, gave up after 2 attempts: status 500\n"
        #expect(second == CommandResult(status: 65, output: line, errors: ""))
        _ = try await outbox.run("add --expires 1ms \(server.url)")
        let expired = try await outbox.run("flush")
        let told = "reachability: 2: expired, deleted unsent: POST http://127.0.0.1:\(server.port)\n"
        #expect(expired == CommandResult(status: 65, output: "", errors: told))
        _ = try await outbox.run("add --expires 1ms \(server.url)")
        let added = try await outbox.run("add \(server.url)")
        #expect(added.errors == told.replacing("2:", with: "3:"))
        #expect(server.requests.count == 2)
    }

    @Test func `a proxy of the environment is asked, but for what no_proxy lists, and its password is not told`()
        async throws
    {
        let proxy = try AnswerServer("403 Forbidden")
        let environment = "http_proxy=http://me:hu%73h@127.0.0.1:\(proxy.port); export http_proxy;"
        _ = try await outbox.run("add \(server.url)")
        let refused = try await outbox.run("flush", after: environment)
        let line = "1: waits, the proxy has refused, and connects to nobody\n"
        #expect(refused == CommandResult(status: 75, output: line, errors: ""))
        let asked = try #require(proxy.requests.first).lowercased()
        #expect(asked.hasPrefix("connect 127.0.0.1:\(server.port) http/1.1\r\n"))
        #expect(asked.contains("\r\nproxy-authorization: basic bwu6ahvzaa==\r\n") && server.requests.isEmpty)
        proxy.answer("407 Proxy Authentication Required")
        let portal = "1: waits, status 407 of the proxy, which connects to nobody\n"
        #expect(try await outbox.run("flush", after: environment).output == portal)
        let secure = try await outbox.run("flush", after: "http_proxy=https://me:hush@127.0.0.1; export http_proxy;")
        let cause = "http_proxy names a proxy that is neither http:// nor socks5://: name such a one"
        #expect(secure == CommandResult(status: 75, output: "1: waits, \(cause)\n", errors: ""))
        let excepted = "\(environment) no_proxy=example.org,127.0.0.0/8; export no_proxy;"
        #expect(try await outbox.run("flush", after: excepted).output == "1: delivered\n")
        #expect(server.requests.count == 1 && proxy.requests.count == 2)
    }

    @Test func `where a proxy is asked, its name service need not be ours`() async throws {
        server.answer("403 Forbidden")
        _ = try await outbox.run("add https://one.invalid/")
        let direct = try await outbox.run(
            "flush",
            after: "no_proxy=invalid; https_proxy=\(server.url); export no_proxy https_proxy;"
        )
        #expect(direct.status == 75 && direct.output.hasPrefix("https://one.invalid: 1 left, not reachable: "))
        let asked = try await outbox.run("flush", after: "https_proxy=\(server.url); export https_proxy;")
        #expect(asked.output == "1: waits, the proxy has refused, and connects to nobody\n")
        #expect(server.requests.map { $0.prefix(24) } == ["CONNECT one.invalid:443 "])
    }

    @Test func `a server that says nothing is given up in time`() async throws {
        server.answer("")
        _ = try await outbox.run("add \(server.url)")
        let result = try await outbox.run("flush --timeout 8s")
        #expect(
            result == CommandResult(status: 75, output: "1: not delivered, attempt 1: no answer in time\n", errors: "")
        )
    }

    @Test func `the list fits 80 columns, and steers no terminal`() async throws {
        let key = String(repeating: "k", count: 200)
        _ = try await outbox.run(
            "add --key \(key) --priority -1000000 https://\(String(repeating: "a.", count: 100))example:8443/"
        )
        _ = try await outbox.run("add --key \"$(printf 'a\\033c\\nb')\" http://127.0.0.1:1/")
        _ = try await outbox.run("flush")
        let list = try await outbox.run("list")
        #expect(list.output.split(separator: "\n").allSatisfy { $0.utf8.count <= 80 }, "\(list.output)")
        #expect(list.output.contains(#"key a\u{1b}c\u{a}b"#))
        #expect(list.output.contains("last error: cannot connect"))
        #expect(!list.output.contains("\u{1b}"))
    }

    @Test func `the former option --file still names the outbox`() async throws {
        let file = outbox.file
        let both = try await Command.run(
            script: "$R outbox add --file \(file) http://one.example/; $R outbox list --outbox \(file) --json | wc -l"
        )
        #expect(both == CommandResult(status: 0, output: "1\n1\n", errors: ""))
    }
}
