package import LinuxSupport
import NIOHTTP1
package import ReachabilityService

extension API {
    /// Reads the configuration again; 422 with all that is wrong where it is not used.
    func reload(as representation: Representation) throws(Problem) -> WebAnswer {
        guard let reloader else {
            throw Problem(.conflict, "the service was started without a configuration: give it one with --config")
        }
        return reloader.answer(as: representation) { $0.add("targets", service.snapshot.books.targets) }
    }
}

extension Reloader {
    /// Reads the file again, and tells what became of that: 422 with all that is wrong where it is not used.
    ///
    /// - Parameter more: Adds what else is told of a file that is applied.
    package func answer(as representation: Representation, _ more: (inout JSONObject) -> Void = { _ in }) -> WebAnswer {
        do {
            let restart = try reload()
            if representation == .text { return answer(.ok, [applied(restart)]) }
            var object = JSONObject()
            object.add("schema", 1)
            object.add("needsRestart", restart)
            more(&object)
            object.add("kind", "reload")
            return WebAnswer(type: Representation.json.contentType, object.bytes)
        } catch {
            guard representation == .text else { return answer(error) }
            return answer(.unprocessableEntity, error.problems.map { $0.description(in: file) } + [refused])
        }
    }

    private func answer(_ status: HTTPResponseStatus, _ lines: [String]) -> WebAnswer {
        WebAnswer(status, type: Representation.text.contentType, Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    private func answer(_ problems: ConfigurationProblems) -> WebAnswer {
        var object = JSONObject()
        object.add("type", "about:blank")
        object.add("title", HTTPResponseStatus.unprocessableEntity.reasonPhrase)
        object.add("status", HTTPResponseStatus.unprocessableEntity.code)
        object.add("detail", problems.problems.map { $0.description(in: file) }.joined(separator: "; "))
        object.add(
            "errors",
            problems.problems.map { problem in
                var object = JSONObject()
                object.add("path", problem.path)
                object.add("line", optional: problem.line)
                object.add("column", optional: problem.column)
                object.add("detail", problem.text)
                return object
            }
        )
        return WebAnswer(.unprocessableEntity, type: "application/problem+json", object.bytes)
    }
}
