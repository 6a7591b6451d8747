import { Inject, Injectable } from '@nestjs/common';
import { DATA_SOURCE } from '@lineclear/host';
import { DataSource } from 'typeorm';
import type { Tool } from '../../domain/tool.js';

/** The catalogue outside the lane: what people read. */
@Injectable()
export class ToolReader {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  async all(): Promise<Tool[]> {
    const rows: { tool: string }[] = await this.dataSource.query('SELECT tool FROM tool ORDER BY name COLLATE "C"');
    return rows.map(({ tool }) => JSON.parse(tool) as Tool);
  }

  async byName(name: string): Promise<Tool | undefined> {
    const rows: { tool: string }[] = await this.dataSource.query('SELECT tool FROM tool WHERE name = $1', [name]);
    const [row] = rows;
    return row === undefined ? undefined : (JSON.parse(row.tool) as Tool);
  }
}
