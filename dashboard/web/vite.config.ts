import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npm run dev` serves the page with hot reload beside a running `python main.py serve --token none`.
const server = process.env.SWARM_EVO_DASHBOARD ?? "http://127.0.0.1:8008";

export default defineConfig({
  plugins: [react()],
  build: { target: "es2022", chunkSizeWarningLimit: 400, assetsInlineLimit: 0, modulePreload: { polyfill: false }, license: { fileName: "licences.md" } },
  server: { proxy: { "/api": server, "/ws": { target: server, ws: true } } },
});
