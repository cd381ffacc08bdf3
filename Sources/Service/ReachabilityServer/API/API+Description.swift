extension API {
    /// What can be asked for, in the words of OpenAPI 3.1: `openapi.json`, as it stands beside this file.
    func description(_ request: WebRequest) -> WebAnswer {
        WebAnswer(type: Representation.json.contentType, PackageResources.openapi_json).tagged(for: request)
    }
}
