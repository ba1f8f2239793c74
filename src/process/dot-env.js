import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Reads `.env` of the working directory, if there is one. Variables that are set already stay. */
export function readDotEnv() {
  const file = join(process.cwd(), '.env')
  if (existsSync(file)) process.loadEnvFile(file)
}
