import LinuxPrimitives
import NIOHTTP1
import ReachabilityService

extension API {
    /// Reads the configuration again; 422 with all that is wrong where it is not used.
    func reload(as representation: Representation) throws(Problem) -> WebAnswer {
        guard let reloader else {
            throw Problem(.conflict, "the service was started without a configuration: give it one with --config")
        }
        do {
            let restart = try reloader.reload()
            if representation == .text { return answer(.ok, [reloader.applied(restart)]) }
            var object = JSONObject()
            object.add("schema", 1)
            object.add("needsRestart", restart)
            object.add("targets", service.snapshot.books.targets)
            object.add("kind", "reload")
            return WebAnswer(type: Representation.json.contentType, object.bytes)
        } catch {
            guard representation == .text else { return answer(error, file: reloader.file) }
            let lines = error.problems.map { $0.description(in: reloader.file) }
            return answer(.unprocessableEntity, lines + [reloader.refused])
        }
    }

    private func answer(_ status: HTTPResponseStatus, _ lines: [String]) -> WebAnswer {
        WebAnswer(status, type: Representation.text.contentType, Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    private func answer(_ problems: ConfigurationProblems, file: String) -> WebAnswer {
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
