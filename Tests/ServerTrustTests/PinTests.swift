import NetworkLab
import ServerTrust
import Testing
import TrustForge

@Suite struct PinTests {
    private static let good = "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg="
    private static let other = "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="

    @Test func `a pin is parsed and printed`() throws {
        #expect(try PublicKeyPin(Self.good).description == Self.good)
        #expect(try PublicKeyPin("sha256//YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=").description == Self.good)
        // The description of a pin is a valid pin.
        let zeroes = PublicKeyPin(ServerPublicKey(subjectPublicKeyInfo: []))
        #expect(try PublicKeyPin(zeroes.description) == zeroes)
        #expect(zeroes.description == "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    }

    @Test(arguments: [
        "", "sha256/", "sha1/YLh1dUR9y6Kja30RrAn7JKnbQG8=", "YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=",
        "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg", "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihh=",
        "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG_uEtLMkBgFF2Fuihg=", "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg= ",
        "SHA256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=", "sha256/====", "sha256/YLh1",
    ])
    func `an invalid pin is refused`(_ text: String) {
        #expect(throws: PinError.notAPin(text)) { try PublicKeyPin(text) }
    }

    @Test func `a pin set requires a backup pin unless stated otherwise`() throws {
        #expect(throws: PinError.empty) { try PinSet([String]()) }
        #expect(throws: PinError.empty) { try PinSet([String](), requiresBackup: false) }
        #expect(throws: PinError.backupPinMissing) { try PinSet([Self.good]) }
        #expect(throws: PinError.backupPinMissing) { try PinSet([Self.good, Self.good]) }
        #expect(throws: PinError.notAPin("x")) { try PinSet([Self.good, "x"]) }
        #expect(try PinSet([Self.good], requiresBackup: false).pins.count == 1)
        #expect(try PinSet([Self.good, Self.other, Self.good]).pins.count == 2)
    }

    @Test func `a pin set is enforced until it expires`() throws {
        let set = try PinSet([Self.good, Self.other], expires: World.now)
        #expect(set.isEnforced(at: World.now.advanced(by: .seconds(-1))))
        #expect(!set.isEnforced(at: World.now))
        #expect(try PinSet([Self.good, Self.other]).isEnforced(at: World.ends))
        #expect(try !PinSet([Self.good, Self.other], reportsOnly: true).isEnforced(at: World.now))
    }

    /// The documentation gives this command.
    @Test(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"), arguments: [World.leaf, World.rsaLeaf])
    func `the documented openssl command prints the same pin`(_ forged: Forged) throws {
        let directory = ScratchDirectory()
        let file = try directory.write("server.pem", PEM.text([forged.der]))
        let command = """
            openssl x509 -in \(file) -pubkey -noout | openssl pkey -pubin -outform DER \
            | openssl dgst -sha256 -binary | base64
            """
        let result = try LabProcess("sh", ["-c", command]).wait()
        #expect("sha256/\(result.output)" == "\(forged.pin)\n", "\(result.errors)")
    }
}
