import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Reads `.env` in the working directory, if it exists. Variables that are already set keep their values. */
export function readDotEnv() {
  const file = join(process.cwd(), '.env')
  if (existsSync(file)) process.loadEnvFile(file)
}
