const escaped = (text: string) => text.replace(/[^A-Za-z0-9 .,:;/_-]/g, char => `&#${char.codePointAt(0)};`)

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}
button{font:inherit;padding:.5rem 1rem}code{font-family:ui-monospace,monospace}</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`

/** The page whose one button takes the manifest to GitHub. */
export function startPage(action: string, manifest: object): string {
  return page(
    'Register Bailiwick on GitHub',
    `<p>GitHub shows the permissions of the App, and lets you change its name. This page sends data to GitHub only.</p>
<form action="${escaped(action)}" method="post">
<input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}">
<button type="submit">Continue to GitHub</button>
</form>`,
  )
}

/** What is seen when GitHub has led back. `installUrl` is where the App is installed. */
export function donePage(installUrl: string): string {
  return page(
    'The App is registered',
    `<p>Its settings are written. Next: <a href="${escaped(installUrl)}">install it on your organization</a>, then start the web process.</p>`,
  )
}

/** Why nothing came of it. */
export const failedPage = (why: string): string => page('Setup failed', `<p>${escaped(why)}</p>`)
