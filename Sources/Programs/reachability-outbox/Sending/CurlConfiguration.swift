import ReachabilityOutbox

/// A request as a file of settings for curl, which it reads from its standard input: arguments can be seen by other users.
///
/// C counterpart: `curl(1)`, `--config`.
struct CurlConfiguration {
    let request: OutboxRequest
    /// Where the body can be read; nil without one.
    let bodyPath: String?
    let limit: Duration

    var text: String {
        var lines = [
            "silent", "globoff", "path-as-is", "proto = \"=http,https\"", "output = \"/dev/null\"",
            "write-out = \"%{http_code} %header{retry-after}\\n%{http_connect}\\n%{errormsg}\"",
            "max-time = \(Self.seconds(limit))",
            "url = \(Self.quoted(request.url))",
        ]
        lines.append(request.method == "HEAD" ? "head" : "request = \(Self.quoted(request.method))")
        if let bodyPath {
            lines.append("data-binary = \(Self.quoted("@" + bodyPath))")
        } else if ["POST", "PUT", "PATCH"].contains(request.method) {
            // Says that the content has no bytes.
            lines.append("data-binary = \"\"")
        }
        let names = Set(request.headers.map { $0.name.lowercased() })
        // What curl would add of its own.
        for name in ["accept", "content-type", "expect", "user-agent"] where !names.contains(name) {
            lines.append("header = \"\(name):\"")
        }
        for header in request.headers {
            // A semicolon stands for a header without a value; a colon would take the header away.
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            lines.append("header = \(Self.quoted(line))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = max(1, Int64(duration / .milliseconds(1)))
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.utf8.count))\(rest)"
    }

    /// There is no line's end in any part of a request.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\t", with: "\\t") + "\""
    }
}
