// SPDX-License-Identifier: Apache-2.0
//
// A browser that a test controls: reads a command as JSON from each line of standard input, and
// writes the answer, {"value": ...} or {"error": "..."}, as a line.
//
//     node browser.cjs FOLDER CHROMIUM      FOLDER has node_modules with playwright-core, axe-core
"use strict";

const {createRequire} = require("node:module");
const readline = require("node:readline");

const [folder, chromium] = process.argv.slice(2);
const wanted = createRequire(folder + "/");
const playwright = wanted("playwright-core");
const axe = wanted("axe-core");

const flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"];

let browser;
const pages = new Map();  // by name, with their errors

const commands = {
    /** Opens a page; `size` is [width, height], `scheme` "light" or "dark". */
    async open({page: name, url, size, scheme}) {
        browser ??= await playwright.chromium.launch({executablePath: chromium, args: flags});
        const context = await browser.newContext({
            viewport: {width: size[0], height: size[1]}, colorScheme: scheme});
        const page = await context.newPage();
        const errors = [];
        page.on("console", (message) => {
            if (["error", "warning"].includes(message.type())) errors.push(message.text());
        });
        page.on("pageerror", (error) => errors.push("exception: " + error.message));
        pages.set(name, {page, errors});
        await page.goto(url);
    },
    /** Evaluates an expression in the page. */
    async value({page: name, expression}) {
        return pages.get(name).page.evaluate(expression);
    },
    async press({page: name, key}) {
        await pages.get(name).page.keyboard.press(key);
    },
    /** Changes what open() has set. */
    async show({page: name, size, scheme}) {
        const {page} = pages.get(name);
        await page.setViewportSize({width: size[0], height: size[1]});
        await page.emulateMedia({colorScheme: scheme});
    },
    async picture({page: name, path}) {
        await pages.get(name).page.screenshot({path, fullPage: true});
    },
    /** Faults of accessibility, each with its places. */
    async faults({page: name}) {
        const {page} = pages.get(name);
        await page.evaluate(axe.source);
        const result = await page.evaluate(() => axe.run());
        return result.violations.map((one) =>
            one.id + ": " + one.help + ": " + one.nodes.map((node) => node.html).join(" "));
    },
    /** Errors and warnings of the console, since the last call. */
    async errors({page: name}) {
        return pages.get(name).errors.splice(0);
    },
};

async function main() {
    for await (const line of readline.createInterface({input: process.stdin})) {
        const command = JSON.parse(line);
        let answer;
        try {
            answer = {value: await commands[command.do](command) ?? null};
        } catch (error) {
            answer = {error: String(error.message)};
        }
        process.stdout.write(JSON.stringify(answer) + "\n");
    }
    if (browser) await browser.close();
}

main();
