import LinuxSupport
import MQTT
import Testing

struct BrokerAddressTests {
    @Test(
        arguments: [
            ("mqtts://broker.example.org", "mqtts://broker.example.org:8883"),
            ("mqtt://192.0.2.1", "mqtt://192.0.2.1:1883"),
            ("mqtts://[2001:db8::1]:1", "mqtts://[2001:db8::1]:1"), ("mqtt://a:65535/", "mqtt://a:65535"),
        ]
    )
    func `a valid broker address is read`(_ text: String, _ whole: String) {
        #expect(BrokerAddress(text)?.description == whole)
    }

    @Test(
        arguments: [
            "", "mqtt://", "http://a", "mqtts://a:0", "mqtts://a:65536", "mqtts://a:+1", "mqtts://a:", "mqtts://a/b",
            "mqtts://u@a",
            "mqtts://[a]", "mqtts://2001:db8::1", "mqtts://[::1", "mqtts://a b", "mqtts://a\n", "MQTT://a",
        ]
    )
    func `an invalid broker address is refused`(_ text: String) {
        #expect(BrokerAddress(text) == nil)
    }

    @Test func `text from a broker is escaped in messages`() {
        let address = BrokerAddress(host: "a\u{202e}", port: 1, isSecured: false)
        let error = BrokerError(address, .failed("\u{1b}[2J"))
        #expect(error.description == "the connection to the broker mqtt://a\\u{202e}:1 failed: \\u{1b}[2J")
    }
}
