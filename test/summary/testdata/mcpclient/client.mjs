// Calls every tool of the server with the official TypeScript SDK and holds each result against the tool's output schema.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import Ajv2020 from "ajv/dist/2020.js";

const [command, root, run] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args: ["mcp", "--root", root] }));
const ajv = new Ajv2020({ strict: false });
const { tools } = await client.listTools();
const out = { tools: tools.map((t) => t.name).sort(), bytes: JSON.stringify(tools).length, calls: {}, protocol: client.getServerVersion() };
const calls = {
  list_runs: [{}, { state: "running", limit: 5 }],
  summarize_run: [{ run }],
  get_metric: [{ run, metric: "val/loss" }, { run, metric: "val/loss", max_points: 4, from: 1, to: 3 }],
  wait_for_run: [{ run, until: "epoch=1" }, { run, until: "epoch=999", timeout_s: 1 }],
};
for (const tool of tools) {
  const valid = ajv.compile(tool.outputSchema);
  for (const args of calls[tool.name]) {
    const result = await client.callTool({ name: tool.name, arguments: args });
    if (result.isError) throw new Error(tool.name + ": " + JSON.stringify(result.content));
    if (!valid(result.structuredContent)) throw new Error(tool.name + ": " + JSON.stringify(valid.errors));
    if (JSON.stringify(sorted(JSON.parse(result.content[0].text))) !== JSON.stringify(sorted(result.structuredContent))) throw new Error(tool.name + ": the text is another");
    out.calls[tool.name] = (out.calls[tool.name] ?? 0) + 1;
  }
}
const failed = await client.callTool({ name: "summarize_run", arguments: { run: "nope" } });
out.error = failed.isError === true;
const resource = await client.readResource({ uri: "trainrun:///" + encodeURIComponent(run) + "/summary" });
out.resource = JSON.parse(resource.contents[0].text).schema;
const schema = await client.readResource({ uri: "trainrun:///schema" });
if (!ajv.compile(JSON.parse(schema.contents[0].text))(JSON.parse(resource.contents[0].text))) throw new Error("the resource does not fit the schema");
console.log(JSON.stringify(out));
await client.close();

function sorted(v) {
  if (Array.isArray(v)) return v.map(sorted);
  if (v === null || typeof v !== "object") return v;
  return Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])]));
}
